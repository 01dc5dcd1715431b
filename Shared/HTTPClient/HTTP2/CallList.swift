internal import DequeModule

/// The open calls in order of arrival, which is the order of their ids and of their deadlines.
struct CallList {
    /// Ended calls are swept out when the list is longer than twice the open calls plus this number.
    private static let sweepThreshold = 64

    private var calls = Deque<Call>()
    /// The number of open calls.
    private(set) var openCount = 0

    /// The first open call.
    var first: Call? { calls.first { !$0.isEnded } }
    /// The deadline of the first open call; nil without calls.
    var nextDeadline: ContinuousClock.Instant? { first?.deadline }

    mutating func append(_ call: Call) {
        precondition(calls.last.map { $0.id < call.id } ?? true, "ids grow, because find(_:) searches by halves")
        calls.append(call)
        openCount += 1
    }

    /// Records that a call of the list has ended.
    mutating func recordEnd() {
        openCount -= 1
        precondition(openCount >= 0, "more calls ended than were added")
        while let first = calls.first, first.isEnded { calls.removeFirst() }
        if calls.count > 2 * openCount + Self.sweepThreshold { calls.removeAll { $0.isEnded } }
    }

    /// Returns the call of an id unless it has ended.
    func find(_ id: UInt64) -> Call? {
        var (low, high) = (0, calls.count)
        while low < high {
            let middle = (low + high) / 2
            if calls[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < calls.count, calls[low].id == id, !calls[low].isEnded else { return nil }
        return calls[low]
    }
}
