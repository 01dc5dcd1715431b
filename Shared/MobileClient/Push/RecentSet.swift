/// The texts that were inserted last, up to a number.
struct RecentSet: Hashable, Sendable {
    let capacity: Int
    /// The oldest first.
    private(set) var elements: [String] = []

    init(capacity: Int) { self.capacity = capacity }

    func contains(_ text: String) -> Bool { elements.contains(text) }

    /// Inserts a text as the newest, and forgets the oldest beyond the capacity; returns whether it was new.
    @discardableResult
    mutating func insert(_ text: String) -> Bool {
        let isNew = !elements.contains(text)
        elements.removeAll { $0 == text }
        elements.append(text)
        if elements.count > capacity { elements.removeFirst(elements.count - capacity) }
        return isNew
    }

    mutating func remove(where isRemoved: (String) -> Bool) { elements.removeAll(where: isRemoved) }
}
