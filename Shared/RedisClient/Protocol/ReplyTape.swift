/// The values of one or more complete replies in preorder: an array is followed by its elements.
///
/// ``RESPDecoder`` writes it once, and every ``RedisReply`` of the same read shares it, so that 256 small replies cost three
/// allocations and not one tree each.
final class ReplyTape: Sendable {
    /// One value.
    struct Node: Sendable, BitwiseCopyable {
        /// An integer's value, an array's number of elements, or the offset of the text in ``ReplyTape/bytes``.
        var number: Int64
        /// The length of the text in bytes.
        var length: Int32
        /// The index of the node after this value and its elements.
        var end: Int32
        var kind: RedisReply.Kind
    }

    let nodes: [Node]
    let bytes: [UInt8]

    init(nodes: [Node], bytes: [UInt8]) {
        self.nodes = nodes
        self.bytes = bytes
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
    /// The start of the reply that is being read.
    private var openNode = 0
    private var openByte = 0
    private let limits: RESPLimits
    private(set) var refusal: Refusal?

    init(limits: RESPLimits) {
        self.limits = limits
    }

    /// Adds a value to the open reply; false when that would exceed a limit.
    mutating func append(_ kind: RedisReply.Kind, text: UnsafeRawBufferPointer, number: Int64) -> Bool {
        guard nodes.count - openNode < limits.maxValues else {
            refusal = .tooManyValues
            return false
        }
        guard bytes.count - openByte + text.count <= limits.maxBytes, nodes.count < Int32.max else {
            refusal = .tooManyBytes
            return false
        }
        let number = text.isEmpty ? number : Int64(bytes.count)
        nodes.append(.init(number: number, length: Int32(text.count), end: Int32(nodes.count) + 1, kind: kind))
        bytes.append(text.assumingMemoryBound(to: UInt8.self))
        return true
    }

    /// Ends the open reply and returns its index on the tape that the next ``seal()`` returns.
    mutating func finishReply() -> Int32 {
        let start = openNode
        // Backwards, so that the ends of an array's elements are known when the loop reaches the array. No recursion: a hostile server
        // could choose the depth.
        for index in stride(from: nodes.count - 1, through: start, by: -1) where nodes[index].kind == .array {
            var end = Int32(index) + 1
            for _ in 0..<nodes[index].number { end = nodes[Int(end)].end }
            nodes[index].end = end
        }
        openNode = nodes.count
        openByte = bytes.count
        return Int32(start)
    }

    /// Removes the finished replies and returns them as a tape; the values of an unfinished one stay.
    mutating func seal() -> ReplyTape {
        // Copies, which costs little beside reading: a reply at the limit is in memory twice for a moment.
        let tape = ReplyTape(nodes: nodes.takeFirst(openNode), bytes: bytes.takeFirst(openByte))
        for index in 0..<nodes.count {
            nodes[index].end -= Int32(openNode)
            if nodes[index].length > 0 { nodes[index].number -= Int64(openByte) }
        }
        openNode = 0
        openByte = 0
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
