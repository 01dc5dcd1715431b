/// A table of elements under small numbers (slots); the slot of a removed element is reused.
struct SlotTable<Element> {
    private var slots: [Element?] = []
    private var free: [Int] = []
    /// The number of elements.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// The elements, in unspecified order.
    var elements: [Element] { slots.compactMap { $0 } }

    /// Returns the element of a slot, or nil when the slot is free or was never used.
    subscript(slot: Int) -> Element? { slots.indices.contains(slot) ? slots[slot] : nil }

    mutating func insert(_ element: Element) -> Int {
        count += 1
        guard let slot = free.popLast() else {
            slots.append(element)
            return slots.count - 1
        }
        slots[slot] = element
        return slot
    }

    @discardableResult mutating func remove(_ slot: Int) -> Element? {
        guard let element = self[slot] else { return nil }
        slots[slot] = nil
        free.append(slot)
        count -= 1
        return element
    }

    mutating func removeAll() { self = SlotTable() }
}
