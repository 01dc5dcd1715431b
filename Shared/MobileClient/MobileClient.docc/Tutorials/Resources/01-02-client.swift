import Foundation
import MobileClient

/// The one client of the app.
enum Backend {
    /// App and extension share it.
    static let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example.app")!
        .appending(path: "heliograph")

    static let client: HeliographClient = {
        do {
            let configuration = try ClientConfiguration(
                baseURL: URL(string: "https://api.example.org")!, appVersion: "1.0", folder: folder)
            let storage = ClientStorage(keychainService: "api.example.org", accessGroup: "TEAMID.org.example.app", folder: folder)
            return HeliographClient(configuration: configuration, storage: storage)
        } catch {
            fatalError("The address of the API is wrong: \(error)")
        }
    }()
}
