internal import HeliographCrypto

/// What tells the codes of one mail apart: four letters that the app shows, and that stand beside its code.
///
/// It has no vowels, so that it makes no word; no digits, so that it does not look like a code; and no L, which looks like an I.
public enum CodeReference {
    /// The letters.
    public static let alphabet = Array("BCDFGHJKMNPQRSTVWXYZ")
    /// The number of letters.
    public static let length = 4

    /// Returns a random one of 160,000.
    public static func random() -> String {
        String(
            (0..<length).map { _ in
                alphabet[Int(SecureRandom.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } % UInt32(alphabet.count))]
            })
    }
}
