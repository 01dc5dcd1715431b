/// Values that do not change any more, in memory that is freed with this.
///
/// `@unchecked Sendable`: nothing writes to the memory after the initialiser, and only `deinit` frees it.
struct FrozenBuffer<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    private let elements: UnsafeBufferPointer<Element>

    /// - Parameter elements: The values, at the start of a piece of memory that was allocated.
    init(owning elements: UnsafeBufferPointer<Element>) { self.elements = elements }

    init(_ values: [Element]) {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: values.count)
        _ = memory.initialize(from: values)
        self.init(owning: UnsafeBufferPointer(memory))
    }

    deinit { elements.deallocate() }

    var count: Int { elements.count }

    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < elements.count, "only values in the buffer are read")
        return elements[index]
    }

    /// Calls `body` with the bytes of some values, which are valid during the call only.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= elements.count, "only values in the buffer are read")
        return body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: elements[range])))
    }
}
