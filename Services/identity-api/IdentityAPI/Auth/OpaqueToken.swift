internal import HeliographCrypto

/// A secret that means nothing by itself: 256 bits, random or derived from such, of which only the hash is stored.
struct OpaqueToken: Sendable {
    private static let byteCount = 32

    /// What the device is given.
    let text: String

    /// What is stored: SHA-256 of the text. The token has too much entropy for anything slower to be needed.
    var hash: [UInt8] { Self.hash(text) }

    static func generate() -> OpaqueToken { OpaqueToken(text: Base64URL.encode(SecureRandom.bytes(byteCount))) }

    static func hash(_ text: String) -> [UInt8] { SHA256.hash(text) }
}

/// The access and the refresh token of a sign-in.
struct TokenPair: Sendable {
    let access: OpaqueToken
    let refresh: OpaqueToken
}
