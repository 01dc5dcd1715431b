internal import Foundation
internal import Storage

/// The keys of services in tests.
public enum TestKeys {
    /// Returns settings with fresh keys. Each purpose has another ring, so that a value of one does not open with that of another.
    public static func settings() -> [String: String] {
        var settings = ["LOOKUP_KEY": secret(), "SESSION_KEY": secret()]
        for purpose in KeyPurpose.allCases { settings[purpose.setting] = "k1:\(secret())" }
        return settings
    }

    private static func secret() -> String { Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }
}
