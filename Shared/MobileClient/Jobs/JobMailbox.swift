internal import Foundation

/// The updates that one reader of a ``JobTracker`` has not taken yet: only the latest update of each order is kept, so that a slow reader
/// needs no memory and misses no end.
struct JobMailbox {
    /// The order that the reader follows; nil for all.
    let order: UUID?
    /// The ends that the reader has taken, and has not come back after: it may be at work on them.
    private(set) var handed: [UUID] = []
    /// The reader that waits for the next update.
    var waiter: CheckedContinuation<JobUpdate?, Never>?

    private var latest: [UUID: JobUpdate] = [:]
    private var queue: [UUID] = []
    private var next = 0
    private(set) var isOver = false

    init(order: UUID?) { self.order = order }

    mutating func put(_ update: JobUpdate) {
        guard !isOver else { return }
        if latest.updateValue(update, forKey: update.id) == nil { queue.append(update.id) }
    }

    /// The next update; nil when no update waits. The end of the order that the reader follows is the last update.
    mutating func take() -> JobUpdate? {
        guard next < queue.count else { return nil }
        let update = latest.removeValue(forKey: queue[next])
        next += 1
        if next == queue.count { (queue, next) = ([], 0) }
        if let update, update.outcome != nil {
            handed.append(update.id)
            if order != nil { isOver = true }
        }
        return update
    }

    /// The ends that the reader has seen, because it has come back or gone.
    mutating func takeHanded() -> [UUID] {
        defer { handed = [] }
        return handed
    }

    /// No updates follow the present ones.
    mutating func closeAfterLast() { isOver = true }
}
