import HeliographCrypto

/// Random identifiers in the alphabets of Google's identifiers.
enum RandomText {
    private static let base64URL = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    /// Returns `count` characters of the URL-safe base-64 alphabet.
    static func urlSafe(_ count: Int) -> String {
        String(SecureRandom.bytes(count).map { base64URL[Int($0 & 63)] })
    }

    /// Returns `count` lower-case hexadecimal digits.
    static func hexadecimal(_ count: Int) -> String {
        SecureRandom.bytes(count).map { String($0 & 15, radix: 16) }.joined()
    }

    /// Returns `count` decimal digits, the first of which is not zero.
    static func digits(_ count: Int) -> String {
        var random = SystemRandomNumberGenerator()
        let rest = (1..<max(count, 1)).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
        return String(Int.random(in: 1...9, using: &random)) + rest
    }
}
