/// A bounded dictionary that drops the oldest keys.
struct RecentJobs<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var values: [Key: Value] = [:]
    /// Keys in the order in which they came, in a ring.
    private var keys: [Key] = []
    private var oldest = 0

    init(limit: Int) { self.limit = limit }

    subscript(key: Key) -> Value? { values[key] }

    /// Keeps a value; the oldest key goes when there is no space.
    mutating func keep(_ value: Value, for key: Key) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        guard keys.count == limit else { return keys.append(key) }
        values[keys[oldest]] = nil
        keys[oldest] = key
        oldest = (oldest + 1) % limit
    }
}
