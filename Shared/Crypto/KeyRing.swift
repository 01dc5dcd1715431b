/// Holds the sealing keys of an installation: the current one, and older ones that are still used to open.
///
/// Rotation: append a new key everywhere, then put it in front everywhere, then seal all values again, then remove the old key.
public struct KeyRing: Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a key, in bytes (AES-256).
    public static let keyByteCount = 32
    /// The maximum number of characters of a key's id.
    public static let maxIDLength = 32

    struct Key: Sendable {
        let id: String
        /// Derives the keys of sealed values.
        let derivation: ValueKeyDerivation
        /// Computes the lookups of values.
        let mac: HMACSHA256
    }

    /// At least one; the first is the current one.
    let keys: [Key]

    var current: Key { keys[0] }

    /// Reads `id2:base64-of-32-bytes,id1:…`; the first key is the current one.
    ///
    /// - Throws: `invalidKey` with the position of the invalid part, never its text.
    public init(parsing text: String) throws(CryptoError) {
        var parsed: [Key] = []
        for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let fields = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard fields.count == 2 else {
                throw CryptoError(.invalidKey, "sealing key \(index + 1) is not of the form id:base64")
            }
            let id = String(fields[0].drop { $0 == " " })
            guard Self.isValid(id: id) else {
                throw CryptoError(.invalidKey, "the id of sealing key \(index + 1) is not 1 to 32 of A-Z a-z 0-9 _ -")
            }
            guard let bytes = Base64.decode(String(fields[1])), bytes.count == Self.keyByteCount else {
                throw CryptoError(.invalidKey, "sealing key \(index + 1) is not the base64 of 32 bytes")
            }
            guard !parsed.contains(where: { $0.id == id }) else {
                throw CryptoError(.invalidKey, "sealing key \(index + 1) repeats an id")
            }
            parsed.append(Key(id: id, derivation: ValueKeyDerivation(key: bytes), mac: HMACSHA256(key: bytes)))
        }
        keys = parsed
    }

    /// Returns the text of a new ring with one random key, in the format of ``init(parsing:)``.
    public static func generateText(id: String = "k1") -> String {
        "\(id):\(Base64.encode(SecureRandom.bytes(keyByteCount)))"
    }

    /// Returns the key with an id in UTF-8.
    func key(id: ArraySlice<UInt8>) -> Key? { keys.first { $0.id.utf8.elementsEqual(id) } }

    private static func isValid(id: String) -> Bool {
        (1...maxIDLength).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The id of the current key and the number of keys; never the keys.
    public var description: String { "KeyRing(current: \(current.id), keys: \(keys.count))" }
    /// Hides the keys from `dump` and from string interpolation.
    public var customMirror: Mirror { Mirror(self, children: ["current": current.id, "keys": keys.count]) }
}
