/// The name of an object: parts joined by slashes, such as `ekyc/<session>/<number>`.
///
/// A part has 1 to 128 characters of `A–Z a–z 0–9 . _ -` and does not begin with a dot, so that no key can lead outside the
/// store's directory, name a hidden file, or have another meaning in another store.
public struct BlobKey: Sendable, Hashable, CustomStringConvertible {
    /// The most parts of a key.
    public static let maxParts = 8
    /// The most characters of a part.
    public static let maxPartLength = 128

    /// The whole name.
    public let name: String

    /// Makes a key from its name, for example from a database row.
    ///
    /// - Throws: `invalidKey` when the name is not built as described.
    public init(_ name: String) throws(BlobStoreError) {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= Self.maxParts, parts.allSatisfy({ Self.isPart(Array($0)) }) else {
            throw BlobStoreError(.invalidKey, "a text of \(name.utf8.count) bytes is not a valid key")
        }
        self.name = name
    }

    /// Makes a key of a name that is valid by construction.
    init(valid name: String) { self.name = name }

    /// The name, for logs.
    public var description: String { name }

    private static func isPart(_ bytes: [UInt8]) -> Bool {
        1...maxPartLength ~= bytes.count && bytes[0] != UInt8(ascii: ".") && bytes.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
