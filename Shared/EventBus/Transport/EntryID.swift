/// The id of an entry in its stream, such as `1700000000000-0`; ids order the entries.
public struct EntryID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id before every entry's id.
    public static let zero = EntryID(milliseconds: 0, sequence: 0)

    /// The transport's clock when the entry was appended, in milliseconds since 1970; it never goes back within a stream.
    public let milliseconds: UInt64
    /// Distinguishes the entries of one millisecond.
    public let sequence: UInt64

    /// Creates the id of an entry from the two numbers of its text, `milliseconds-sequence`.
    public init(milliseconds: UInt64, sequence: UInt64) {
        self.milliseconds = milliseconds
        self.sequence = sequence
    }

    /// Parses `milliseconds-sequence`; nil when `text` has another form.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // UInt64 would accept a sign.
        guard parts.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }) else { return nil }
        guard parts.count == 2, let milliseconds = UInt64(parts[0]), let sequence = UInt64(parts[1]) else { return nil }
        self.init(milliseconds: milliseconds, sequence: sequence)
    }

    /// Orders ids as their entries stand in the stream: by time, then by sequence.
    public static func < (left: Self, right: Self) -> Bool {
        (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
    }

    /// The two numbers with a hyphen, the form that Redis uses.
    public var description: String { "\(milliseconds)-\(sequence)" }
}
