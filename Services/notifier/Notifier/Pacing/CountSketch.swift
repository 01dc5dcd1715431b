internal import FoundationEssentials

/// Counts how often each of very many ids was seen, in 512 KiB whatever their number: two tables of counters, in each of which an
/// id shares its counter with few others. It never says too little, and too much of one id in some hundred thousand.
struct CountSketch: Sendable {
    /// The counters of a table, a power of two.
    private static let width = 1 << 18

    private var first = [UInt8](repeating: 0, count: width)
    private var second = [UInt8](repeating: 0, count: width)

    /// Counts an id once more.
    ///
    /// - Returns: How often it was seen now, 255 at most.
    mutating func add(_ id: UUID) -> Int {
        // The bytes that are random in every version of UUID that is in use here.
        let bytes = id.uuid
        let one = Int(bytes.9) << 16 | Int(bytes.10) << 8 | Int(bytes.11)
        let other = Int(bytes.13) << 16 | Int(bytes.14) << 8 | Int(bytes.15)
        return min(Self.raise(&first[one & (Self.width - 1)]), Self.raise(&second[other & (Self.width - 1)]))
    }

    private static func raise(_ counter: inout UInt8) -> Int {
        if counter < .max { counter += 1 }
        return Int(counter)
    }

    /// Forgets everything.
    mutating func clear() {
        self = CountSketch()
    }
}
