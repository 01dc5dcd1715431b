internal import HeliographCrypto

/// A secret without content of its own: 256 bits, random or derived from a secret key. Only its hash is stored.
struct OpaqueToken: Sendable {
    private static let byteCount = 32
    /// The start of an enrolment token, which no access token has: its text would have to have a full stop.
    static let enrolmentPrefix = "enrolment."

    /// The text that the device receives.
    let text: String

    /// The stored hash: SHA-256 of the text. The token has so much entropy that no slower hash is needed.
    var hash: [UInt8] { Self.hash(text) }

    static func generate() -> OpaqueToken { OpaqueToken(text: Base64URL.encode(SecureRandom.bytes(byteCount))) }

    static func hash(_ text: String) -> [UInt8] { SHA256.hash(text) }
}

/// The access and the refresh token of a sign-in.
struct TokenPair: Sendable {
    let access: OpaqueToken
    let refresh: OpaqueToken
}
