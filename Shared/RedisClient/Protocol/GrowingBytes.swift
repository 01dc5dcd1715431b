/// Bytes that are appended piece by piece, in memory of their own: an array takes some eighty instructions for each piece, of which a
/// message has dozens.
struct GrowingBytes: ~Copyable {
    /// The most room that is kept when nearly all bytes were taken.
    private static var maxIdleCapacity: Int { 128 << 10 }

    private var memory: UnsafeMutableRawPointer
    private(set) var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        memory = .allocate(byteCount: self.capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// A copy of the bytes.
    var array: [UInt8] { Array(UnsafeRawBufferPointer(start: memory, count: count)) }

    /// Makes room for that many bytes more.
    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if capacity - count < more { move(to: max(2 * capacity, count + more)) }
    }

    /// Appends what `write` writes into the room that it is given, at most `limit` bytes; it returns their number.
    @inline(__always)
    mutating func append(atMost limit: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        reserve(limit)
        let written = write((memory + count).assumingMemoryBound(to: UInt8.self))
        precondition(written <= limit, "no more is written than there is room for")
        count += written
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (memory + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Removes the bytes before `end` and returns them; those behind it move to the start.
    mutating func takeFirst(_ end: Int) -> [UInt8] {
        precondition(end <= count, "only what was appended is taken")
        let first = Array(UnsafeRawBufferPointer(start: memory, count: end))
        count -= end
        memory.copyMemory(from: memory + end, byteCount: count)
        // The memory of an exceptional burst is given back.
        if capacity > Self.maxIdleCapacity, count <= Self.maxIdleCapacity / 2 { move(to: Self.maxIdleCapacity) }
        return first
    }

    private mutating func move(to capacity: Int) {
        let other = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        other.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        (memory, self.capacity) = (other, capacity)
    }
}
