/// The ring of keys for the hashes by which guessable values, such as e-mails, are found. The first key is used to write, and all
/// keys to find.
///
/// A *lookup* is such a hash with the id of its key: one byte with the length of the id, the id, and 32 bytes of HMAC-SHA-256. While a ring
/// has two keys, a value has two lookups, and is found by either lookup.
public struct LookupKeys: Sendable, CustomStringConvertible, CustomReflectable {
    private struct Key: Sendable {
        let id: String
        let mac: HMACSHA256
    }

    private let keys: [Key]

    /// Uses the keys of a ring.
    public init(_ ring: KeyRing) {
        keys = ring.keys.map { Key(id: $0.id, mac: $0.mac) }
    }

    private init(keys: [Key]) { self.keys = keys }

    /// The ids of the keys, in the order of the ring.
    public var ids: [String] { keys.map(\.id) }

    /// Returns the lookups of a value, one for each key; the first belongs to the first key.
    public func lookups(of value: String) -> [[UInt8]] {
        let message = Array(value.utf8)
        return keys.map { Self.lookup(of: $0.mac.authenticate(message), keyID: $0.id) }
    }

    /// Returns the hashes of a value, 32 bytes for each key, without the ids; the first belongs to the first key.
    public func hashes(of value: String) -> [[UInt8]] {
        let message = Array(value.utf8)
        return keys.map { $0.mac.authenticate(message) }
    }

    /// Returns keys for another purpose, with the same ids, that are derived from these.
    public func derived(for purpose: String) -> LookupKeys {
        let message = Array(purpose.utf8)
        return LookupKeys(keys: keys.map { Key(id: $0.id, mac: HMACSHA256(key: $0.mac.authenticate(message))) })
    }

    /// Returns the lookup that consists of a hash of 32 bytes and the id of its key.
    public static func lookup(of hash: [UInt8], keyID: String) -> [UInt8] { [UInt8(keyID.utf8.count)] + Array(keyID.utf8) + hash }

    /// Returns the id of the key of a lookup; nil for bytes that are not a lookup.
    public static func keyID(of lookup: [UInt8]) -> String? {
        guard let length = lookup.first, length > 0, lookup.count == 1 + Int(length) + SHA256.digestByteCount else { return nil }
        return String(decoding: lookup[1...Int(length)], as: UTF8.self)
    }

    /// The ids of the keys; never the keys.
    public var description: String { "LookupKeys(\(ids.joined(separator: ", ")))" }
    /// Hides the keys from `dump` and from string interpolation.
    public var customMirror: Mirror { Mirror(self, children: ["ids": ids]) }
}
