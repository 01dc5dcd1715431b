internal import Accounts
internal import Foundation
public import Schema

/// The keys of services in tests.
public enum TestKeys {
    /// Returns settings with fresh keys. Each purpose has another ring, so that a value of one does not open with that of another.
    public static func settings() -> [String: String] {
        var settings = ["SESSION_KEY": secret()]
        for purpose in KeyPurpose.allCases { settings[purpose.setting] = "k1:\(secret())" }
        return settings
    }

    /// The settings of keys, and the services that are given each.
    public static let services: [String: [ServiceRole]] = [
        "SESSION_KEY": [.identityAPI, .faceMatchingWorker], "MEDIA_LINK_KEY": [.identityAPI, .notifier],
    ].merging(KeyPurpose.allCases.map { ($0.setting, $0.services) }) { $1 }

    /// Returns the settings of the keys that a service is given.
    public static func settings(of role: ServiceRole) -> [String] { services.filter { $0.value.contains(role) }.keys.sorted() }

    /// Returns the settings of the keys that a service is not given.
    public static func settings(withheldFrom role: ServiceRole) -> [String] {
        services.filter { !$0.value.contains(role) }.keys.sorted()
    }

    private static func secret() -> String { Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }
}
