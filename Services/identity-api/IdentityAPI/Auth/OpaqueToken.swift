internal import HeliographCrypto

/// A secret that means nothing by itself: 256 random bits, of which only the hash is stored.
struct OpaqueToken: Sendable {
    private static let byteCount = 32

    /// What the device is given, once.
    let text: String

    /// What is stored: SHA-256 of the text. The token has too much entropy for anything slower to be needed.
    var hash: [UInt8] { Self.hash(text) }

    static func generate() -> OpaqueToken { OpaqueToken(text: Base64URL.encode(SecureRandom.bytes(byteCount))) }

    static func hash(_ text: String) -> [UInt8] { SHA256.hash(text) }
}
