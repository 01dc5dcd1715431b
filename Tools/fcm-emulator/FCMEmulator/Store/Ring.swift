/// The newest elements of an unbounded sequence, each under its sequence number.
struct Ring<Element> {
    /// Maximum number of elements.
    let capacity: Int
    /// The number that the next element gets; numbers begin with 0 and are never used again.
    private(set) var end = 0
    /// The number of the oldest element that is kept.
    private(set) var start = 0
    private var slots: [Element] = []
    /// The number of the element that first occupied slot 0 since the last `removeAll()`.
    private var base = 0

    /// An empty ring; a capacity under one counts as one.
    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// Number of elements kept.
    var count: Int { end - start }

    /// Adds an element, which replaces the oldest of a full ring, and returns its number.
    @discardableResult
    mutating func append(_ element: Element) -> Int {
        let slot = slot(of: end)
        if slot < slots.count { slots[slot] = element } else { slots.append(element) }
        end += 1
        start = max(start, end - capacity)
        return end - 1
    }

    /// Removes all elements; the numbers go on.
    mutating func removeAll() {
        slots.removeAll()
        base = end
        start = end
    }

    /// The element of that number; nil when it was removed, or does not exist yet.
    subscript(number: Int) -> Element? {
        get { (start..<end).contains(number) ? slots[slot(of: number)] : nil }
        set {
            guard let newValue, (start..<end).contains(number) else { return }
            slots[slot(of: number)] = newValue
        }
    }

    /// The kept elements, oldest first, from that number on.
    func suffix(from number: Int = 0) -> some Sequence<Element> {
        (max(number, start)..<max(end, max(number, start))).lazy.map { slots[slot(of: $0)] }
    }

    private func slot(of number: Int) -> Int { (number - base) % capacity }
}
