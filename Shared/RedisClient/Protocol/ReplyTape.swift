/// The values of one or more complete replies in preorder: an array is followed by its elements.
///
/// ``RESPDecoder`` writes it once, and every ``RedisReply`` of the same read shares it, so that 256 small replies cost five
/// allocations and not one tree each.
final class ReplyTape: Sendable {
    /// One value.
    struct Node: Sendable, BitwiseCopyable {
        /// An integer's value, an array's number of elements, or the offset of the text in the bytes of the tape.
        var number: Int64
        /// The index of the node after this value and its elements.
        var end: Int32
        /// The length of the text, and in the three highest bits the kind: nodes are most of the memory of a reply.
        private let lengthAndKind: UInt32

        /// The most bytes of a text.
        static let maxLength = 1 << 29 - 1

        init(_ kind: RedisReply.Kind, number: Int64, length: Int, end: Int32) {
            assert(length <= Self.maxLength, "a longer text is refused before")
            self.number = number
            self.end = end
            lengthAndKind = UInt32(kind.rawValue) << 29 | UInt32(truncatingIfNeeded: length)
        }

        var kind: RedisReply.Kind { RedisReply.Kind(rawValue: UInt8(lengthAndKind >> 29))! }

        /// The length of the text in bytes.
        var length: Int { Int(lengthAndKind) & Self.maxLength }

        /// The place of the text.
        var text: Range<Int> { Int(number)..<(Int(number) + length) }
    }

    private let nodes: FrozenBuffer<Node>
    private let bytes: FrozenBuffer<UInt8>

    init(nodes: consuming FrozenBuffer<Node>, bytes: consuming FrozenBuffer<UInt8>) {
        self.nodes = nodes
        self.bytes = bytes
    }

    subscript(index: Int) -> Node { nodes[index] }

    /// Calls `body` with the text of a value, which is valid during the call only; empty for a value without text.
    func withText<Result>(of node: Node, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        node.length > 0 ? bytes.withBytes(node.text, body) : body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

/// Collects the values that hiredis' reader finds until they are sealed as a ``ReplyTape``.
struct TapeBuilder: ~Copyable {
    /// Why the builder refused a value.
    enum Refusal: Sendable {
        case tooManyValues, tooManyBytes
    }

    private var nodes = GrowingBuffer<ReplyTape.Node>(capacity: 0)
    private var bytes = GrowingBuffer<UInt8>(capacity: 0)
    /// The nodes of the arrays in the reply that is being read.
    private var arrays = GrowingBuffer<Int>(capacity: 0)
    /// The start of the reply that is being read.
    private var openNode = 0
    private var openByte = 0
    /// The sizes of the last tape.
    private var lastNodes = 0
    private var lastBytes = 0
    /// The most nodes and bytes of the tape with the open reply.
    private var nodeLimit = 0
    private var byteLimit = 0
    private let limits: RESPLimits
    private(set) var refusal: Refusal?

    init(limits: RESPLimits) {
        self.limits = limits
        beginReply()
    }

    /// Makes room for the values in `count` bytes more from the server.
    ///
    /// The texts take less than that. A reply that arrives in several reads moves only when it is longer than the one before.
    mutating func expect(_ count: Int) {
        bytes.reserve(min(max(count, lastBytes - bytes.count), 4 * count))
        // The entries of a stream have some twenty bytes a value.
        nodes.reserve(min(max(count / 16, lastNodes - nodes.count), count / 4))
    }

    /// Adds a value to the open reply; false when that would exceed a limit.
    mutating func append(_ kind: RedisReply.Kind, text: UnsafeRawBufferPointer, number: Int64) -> Bool {
        guard nodes.count < nodeLimit else {
            refusal = .tooManyValues
            return false
        }
        guard text.count <= byteLimit - bytes.count else {
            refusal = .tooManyBytes
            return false
        }
        if kind == .array { arrays.append(nodes.count) }
        let number = text.isEmpty ? number : Int64(bytes.count)
        nodes.append(
            ReplyTape.Node(kind, number: number, length: text.count, end: Int32(truncatingIfNeeded: nodes.count + 1)))
        bytes.append(text.assumingMemoryBound(to: UInt8.self))
        return true
    }

    /// Ends the open reply and returns its index on the tape that the next ``seal()`` returns.
    mutating func finishReply() -> Int32 {
        let start = openNode
        // Backwards, so that the ends of an array's elements are known when the loop reaches the array. No recursion: a hostile server
        // could choose the depth.
        for place in stride(from: arrays.count - 1, through: 0, by: -1) {
            let array = arrays[place]
            var end = array + 1
            for _ in 0..<nodes[array].number { end = Int(nodes[end].end) }
            nodes[array].end = Int32(truncatingIfNeeded: end)
        }
        // The memory of an exceptional reply is given back.
        if arrays.capacity > 8_192 { arrays = GrowingBuffer(capacity: 0) } else { arrays.removeAll() }
        beginReply()
        return Int32(start)
    }

    private mutating func beginReply() {
        (openNode, openByte) = (nodes.count, bytes.count)
        setLimits()
    }

    private mutating func setLimits() {
        nodeLimit = min(openNode + limits.maxValues, Int(Int32.max))
        byteLimit = openByte + min(limits.maxBytes, ReplyTape.Node.maxLength)
    }

    /// Removes the finished replies and returns them as a tape; the values of an unfinished one stay.
    mutating func seal() -> ReplyTape {
        (lastNodes, lastBytes) = (openNode, openByte)
        let tape = ReplyTape(nodes: nodes.takeFirst(openNode), bytes: bytes.takeFirst(openByte))
        for index in 0..<nodes.count {
            nodes[index].end -= Int32(openNode)
            if nodes[index].length > 0 { nodes[index].number -= Int64(openByte) }
        }
        for place in 0..<arrays.count { arrays[place] -= openNode }
        (openNode, openByte) = (0, 0)
        setLimits()
        return tape
    }
}

/// The size limits of one reply.
struct RESPLimits: Sendable {
    /// Bytes of one reply, on the wire and decoded.
    var maxBytes = 64 << 20
    /// Values of one reply, arrays included.
    var maxValues = 1 << 20
}
