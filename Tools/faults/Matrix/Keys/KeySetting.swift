import Accounts
internal import Schema
import TestSupport

/// A setting with keys (`docs/adr/0023-key-rings.md`).
struct KeySetting: Sendable {
    let name: String
    /// The name of the ring for heliographctl; nil for a setting with one key.
    let ring: String?

    /// The services that get it, in the order of their restarts.
    var services: [String] { (TestKeys.services[name] ?? []).map(\.rawValue).reversed() }

    /// Whether it is the ring of lookups, which does not seal.
    var isLookups: Bool { ring == KeyPurpose.lookups.rawValue }

    static let rings = KeyPurpose.allCases.map { KeySetting(name: $0.setting, ring: $0.rawValue) }
    static let session = KeySetting(name: "SESSION_KEY", ring: nil)
    static let mediaLink = KeySetting(name: "MEDIA_LINK_KEY", ring: nil)

    static let all = rings + [session, mediaLink]
}
