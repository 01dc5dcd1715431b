public import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// The API key of an app's own server: `hgk_<id>_<secret>`.
///
/// The id, 32 hexadecimal digits, finds the credential; the secret, 256 random bits as base64url, proves it. Keys have a prefix of their
/// own so that scanners find keys that were published by mistake, and so that a key is not taken for a user's token.
public struct ServiceKey: Sendable {
    /// The beginning of every key.
    public static let prefix = "hgk_"
    private static let secretByteCount = 32
    private static let idLength = 32

    /// The credential.
    public let credentialID: UUID
    private let secret: String

    /// SHA-256 of the secret, which has so much entropy that no slower hash is needed.
    public var secretHash: [UInt8] { SHA256.hash(secret) }

    /// The whole key. Shown once, when it is created; never stored or logged.
    public var text: String { Self.prefix + credentialID.wireString.filter { $0 != "-" } + "_" + secret }

    /// Makes a key for a new credential.
    public static func generate() -> ServiceKey {
        ServiceKey(credentialID: UUID(), secret: Base64URL.encode(SecureRandom.bytes(secretByteCount)))
    }

    /// Parses a key; nil for any other text.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 200 else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", maxSplits: 1)
        guard parts.count == 2, let id = Self.id(parts[0]), Base64URL.decode(String(parts[1]))?.count == Self.secretByteCount else {
            return nil
        }
        self.init(credentialID: id, secret: String(parts[1]))
    }

    private init(credentialID: UUID, secret: String) {
        self.credentialID = credentialID
        self.secret = secret
    }

    /// Reads 32 hexadecimal digits as a UUID.
    private static func id(_ digits: Substring) -> UUID? {
        var text = Array(digits.utf8)
        guard text.count == idLength else { return nil }
        // By bytes: a key comes from outside, and a text of that many bytes may have fewer characters.
        for place in [20, 16, 12, 8] { text.insert(UInt8(ascii: "-"), at: place) }
        return UUID(wireBytes: text)
    }
}
