// What apps use of Apple's Foundation that Linux's has not, and what the client has on Apple's systems alone. It is a file of the module
// that is checked, and not a module of its own.
import Foundation
import MobileClient

extension FileManager {
    func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

extension URL {
    static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") }
    static var cachesDirectory: URL { URL(fileURLWithPath: "/") }
    static var documentsDirectory: URL { URL(fileURLWithPath: "/") }
}

extension String {
    init(localized key: String) { self = key }
}
