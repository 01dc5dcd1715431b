/// One entry of a stream.
public struct RedisStreamEntry: Sendable {
    /// The id that the server gave to the entry.
    public let id: RedisStreamID
    /// In the order in which they were added.
    public let fields: RedisStreamFields
}

/// The fields of an entry, which stay in the server's reply until they are asked for.
///
/// They keep the memory of all replies that arrived with theirs alive.
public struct RedisStreamFields: RandomAccessCollection, Sendable {
    /// One field, whose bytes are copied from the reply when it is read.
    public typealias Element = (name: String, value: [UInt8])

    private let tape: ReplyTape
    /// The node of the first name; names and values are texts, and follow each other.
    private let node: Int
    /// The number of fields, each a name and a value.
    public let count: Int

    /// - Returns: nil when the reply is not a list of pairs of texts.
    init?(_ reply: RedisReply) {
        guard let elements = reply.elements, elements.count.isMultiple(of: 2) else { return nil }
        for element in elements where element.kind != .bulkString { return nil }
        (tape, node, count) = (reply.tape, Int(reply.index) + 1, elements.count / 2)
    }

    /// 0, the position of the first field.
    public var startIndex: Int { 0 }
    /// The number of fields, which is the position after the last one.
    public var endIndex: Int { count }

    /// Copies the name and the value of a field; invalid UTF-8 in the name is replaced.
    public subscript(position: Int) -> Element {
        (withText(2 * position) { String(decoding: $0, as: UTF8.self) }, withText(2 * position + 1) { Array($0) })
    }

    /// Calls `body` with the bytes of each name and value from that field on, in their order; the bytes are valid during the call only.
    public func read(from start: Int, _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        for index in start..<count {
            withText(2 * index) { name in
                withText(2 * index + 1) { body(name, $0) }
            }
        }
    }

    private func withText<Result>(_ offset: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        tape.withText(of: tape[node + offset], body)
    }
}

/// The entries that a read found in one stream.
public struct RedisStreamBatch: Sendable {
    /// The stream's key.
    public let stream: String
    /// The entries in the order of the stream.
    public let entries: [RedisStreamEntry]
}
