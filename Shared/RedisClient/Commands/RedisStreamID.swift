/// The id of an entry in a stream, such as `1700000000000-0`; ids order the entries.
public struct RedisStreamID: Hashable, Comparable, Sendable {
    /// The id before every entry's id.
    public static let zero = RedisStreamID(milliseconds: 0, sequence: 0)

    /// The server's clock when the entry was added, in milliseconds since 1970; it never goes back within a stream.
    public var milliseconds: UInt64
    /// Distinguishes the entries of one millisecond.
    public var sequence: UInt64

    /// Creates an id from the two numbers of its text, `milliseconds-sequence`.
    public init(milliseconds: UInt64, sequence: UInt64) {
        self.milliseconds = milliseconds
        self.sequence = sequence
    }

    /// Parses `ms-seq`; `nil` when `text` has another form.
    public init?(_ text: String) {
        var text = text
        guard let id = text.withUTF8({ RedisStreamID(ascii: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    /// Parses the id in a reply; `nil` when the reply is no id.
    public init?(_ reply: RedisReply) {
        guard reply.kind == .bulkString, let id = reply.withBytes({ RedisStreamID(ascii: $0) }) else { return nil }
        self = id
    }

    /// The next possible id, at which a reader that has seen this one continues; the largest id of all returns itself.
    public var next: RedisStreamID {
        if sequence < .max { return .init(milliseconds: milliseconds, sequence: sequence + 1) }
        return milliseconds < .max ? .init(milliseconds: milliseconds + 1, sequence: 0) : self
    }

    /// Orders ids as their entries stand in the stream: by time, then by sequence.
    public static func < (left: Self, right: Self) -> Bool {
        (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
    }

    private init?(ascii text: UnsafeRawBufferPointer) {
        var position = 0
        guard let milliseconds = Self.number(text, &position), position < text.count, text[position] == UInt8(ascii: "-")
        else { return nil }
        position += 1
        guard let sequence = Self.number(text, &position), position == text.count else { return nil }
        self.init(milliseconds: milliseconds, sequence: sequence)
    }

    /// Reads the digits from a position on, and moves it behind them.
    private static func number(_ text: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64? {
        let start = position
        var number: UInt64 = 0
        var index = start
        while index < text.count {
            let value = text[index] &- UInt8(ascii: "0")
            guard value < 10 else { break }
            number = number &* 10 &+ UInt64(value)
            index &+= 1
        }
        position = index
        // Nineteen digits fit, whatever they are.
        if position - start <= 19 { return position > start ? number : nil }
        return UInt64(String(decoding: text[start..<position], as: UTF8.self))
    }
}

extension RedisStreamID: CustomStringConvertible {
    /// The two numbers with a hyphen, the form of Redis's commands and replies.
    public var description: String { "\(milliseconds)-\(sequence)" }
}
