/// Values that are appended one by one or in pieces, in memory of their own: an array takes some eighty instructions for each append, and a
/// message needs dozens of appends.
struct GrowingBuffer<Element: BitwiseCopyable & Sendable>: ~Copyable {
    private var memory: UnsafeMutablePointer<Element>
    private(set) var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        memory = .allocate(capacity: self.capacity)
    }

    deinit { memory.deallocate() }

    subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count, "only what was appended is read")
            return memory[index]
        }
        set {
            precondition(index >= 0 && index < count, "only what was appended is replaced")
            memory[index] = newValue
        }
    }

    /// Makes room for that many values more.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { move(to: max(2 * capacity, count + more)) }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        (memory + count).initialize(to: element)
        count += 1
    }

    /// Appends what `write` writes into the room that it is given, at most `limit` values; it returns their number.
    @inline(__always)
    mutating func append(atMost limit: Int, _ write: (UnsafeMutablePointer<Element>) -> Int) {
        reserve(limit)
        let written = write(memory + count)
        precondition(written <= limit, "no more is written than there is room for")
        count += written
    }

    @inline(__always)
    mutating func append(_ elements: UnsafeBufferPointer<Element>) {
        guard let start = elements.baseAddress else { return }
        reserve(elements.count)
        (memory + count).initialize(from: start, count: elements.count)
        count += elements.count
    }

    /// Removes all values and keeps the memory.
    mutating func removeAll() { count = 0 }

    /// Hands over the values before `end` in the memory that they are in; those behind it move to the start of other memory.
    mutating func takeFirst(_ end: Int) -> FrozenBuffer<Element> {
        precondition(end <= count, "only what was appended is taken")
        let first = FrozenBuffer(owning: UnsafeBufferPointer(start: memory, count: end))
        count -= end
        capacity = max(count, 16)
        let rest = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        rest.initialize(from: memory + end, count: count)
        memory = rest
        return first
    }

    /// Hands over the memory with its content.
    consuming func freeze() -> FrozenBuffer<Element> {
        let elements = FrozenBuffer(owning: UnsafeBufferPointer(start: memory, count: count))
        discard self
        return elements
    }

    @inline(never)
    private mutating func move(to capacity: Int) {
        let other = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        other.initialize(from: memory, count: count)
        memory.deallocate()
        (memory, self.capacity) = (other, capacity)
    }
}
