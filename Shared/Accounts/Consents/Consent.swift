public import FoundationEssentials
internal import PostgresClient

/// The text that users consent to before their faces are processed.
public struct ConsentedText: Sendable, Equatable {
    /// The version, by which apps name the text.
    public let version: String
    /// SHA-256 of the text; 32 bytes.
    public let hash: [UInt8]

    /// Describes a text.
    public init(version: String, hash: [UInt8]) {
        self.version = version
        self.hash = hash
    }

    /// Returns whether a version can be stored: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    public static func isVersion(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default:
                    false
                }
            }
    }
}

/// A consent that was given: a row of `consents`.
public struct Consent: Sendable, Equatable {
    /// The text that the consent was given to.
    public let text: ConsentedText
    /// When the photos were received with it.
    public let givenAt: Date

    /// Describes a consent.
    public init(text: ConsentedText, givenAt: Date) {
        self.text = text
        self.givenAt = givenAt
    }

    init(row: PostgresRow) throws(PostgresError) {
        text = ConsentedText(version: try row.decode("version"), hash: try row.decode("text_hash"))
        givenAt = try row.decode("given_at")
    }
}
