/// One reply of the server, or one element of an array reply.
///
/// A reply keeps the memory of all replies that arrived with it alive, and the room that was made for them: copy the needed values and
/// release the reply.
public struct RedisReply: Sendable {
    /// The type of a reply.
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// A short text such as `OK`.
        case status
        /// Bytes.
        case bulkString
        case integer
        /// The absent string or the absent array; RESP2 distinguishes them, which clients do not need.
        case null
        case array
        /// The server refused the command, or one part of it when the error stands inside an array.
        case error
    }

    let tape: ReplyTape
    let index: Int32

    init(tape: ReplyTape, index: Int32) {
        self.tape = tape
        self.index = index
    }

    private var node: ReplyTape.Node { tape[Int(index)] }

    /// The RESP2 type of the reply.
    public var kind: Kind { node.kind }

    /// Whether this is the null reply.
    public var isNull: Bool { kind == .null }

    /// The value of an integer reply, else `nil`.
    public var integer: Int? { kind == .integer ? Int(node.number) : nil }

    /// The text of a bulk string or status as UTF-8 (invalid bytes are replaced), else `nil`.
    public var string: String? {
        isText ? withBytes { String(decoding: $0, as: UTF8.self) } : nil
    }

    /// The bytes of a bulk string or status, else `nil`.
    public var bytes: [UInt8]? {
        isText ? withBytes { Array($0) } : nil
    }

    /// The elements of an array reply, else `nil`.
    public var array: [RedisReply]? { elements.map(Array.init) }

    /// The elements of an array reply as a sequence that allocates nothing, else `nil`.
    public var elements: Elements? {
        kind == .array ? Elements(tape: tape, index: index + 1, count: Int(node.number)) : nil
    }

    /// The error of an error reply, with the code ``RedisError/Code/server(_:)``, else `nil`.
    public var error: RedisError? {
        kind == .error ? RedisError(serverMessage: withBytes { String(decoding: $0, as: UTF8.self) }) : nil
    }

    /// Calls `body` with the text of this reply in place; empty for anything but a status, bulk string or error.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        tape.withText(of: node, body)
    }

    private var isText: Bool { kind == .bulkString || kind == .status }
}

extension RedisReply {
    /// The elements of an array reply, in order.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        private let tape: ReplyTape
        private var index: Int32
        /// The number of elements that are left.
        public private(set) var count: Int

        init(tape: ReplyTape, index: Int32, count: Int) {
            self.tape = tape
            self.index = index
            self.count = count
        }

        /// The exact number of elements that are left.
        public var underestimatedCount: Int { count }

        /// Takes the next element; nil after the last one.
        public mutating func next() -> RedisReply? {
            guard count > 0 else { return nil }
            count -= 1
            defer { index = tape[Int(index)].end }
            return RedisReply(tape: tape, index: index)
        }
    }
}

extension RedisReply: CustomStringConvertible {
    /// The type and size of the reply without its contents, which may be secret: this text appears in logs.
    public var description: String {
        switch kind {
        case .null: "null"
        case .integer: "integer"
        case .array: "array of \(node.number)"
        case .status, .bulkString: "\(kind) of \(node.length) bytes"
        case .error: "error \(error?.description ?? "")"
        }
    }
}
