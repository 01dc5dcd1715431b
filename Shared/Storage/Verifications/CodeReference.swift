internal import HeliographCrypto

/// What tells the codes of one mail apart: four letters that the app shows, and that stand beside its code.
///
/// Without vowels it makes no word, without digits nobody takes it for a code, and without L nobody reads an I.
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
