internal import DequeModule

/// All calls that are not ended, in the order they came, which is the order of their ids and of their deadlines.
struct CallList {
    /// How many ended calls may lie among as many others before they are swept out.
    private static let sweepMin = 64

    private var calls = Deque<Exchange>()
    /// How many calls are not ended.
    private(set) var openCount = 0

    /// The first call that is not ended.
    var first: Exchange? { calls.first { !$0.isEnded } }
    /// When the first call must be given up; nil without calls.
    var nextDeadline: ContinuousClock.Instant? { first?.deadline }

    mutating func append(_ exchange: Exchange) {
        calls.append(exchange)
        openCount += 1
    }

    /// Notes that a call of the list has ended.
    mutating func noteEnd() {
        openCount -= 1
        while let first = calls.first, first.isEnded { calls.removeFirst() }
        if calls.count > 2 * openCount + Self.sweepMin { calls.removeAll { $0.isEnded } }
    }

    /// Returns the call of an id unless it has ended.
    func find(_ id: UInt64) -> Exchange? {
        var (low, high) = (0, calls.count)
        while low < high {
            let middle = (low + high) / 2
            if calls[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < calls.count, calls[low].id == id, !calls[low].isEnded else { return nil }
        return calls[low]
    }
}
