internal import NIOCore

/// The time that a client may leave responses unread: a budget that is spent while bytes wait to be flushed, and refilled by bytes
/// that are.
struct WriteStallBudget {
    private let patience: TimeAmount
    private let bytesASecond: Int
    private var left: TimeAmount
    private var waitingSince = NIODeadline.now()
    private var waiting = 0

    /// - Parameters:
    ///   - patience: the budget.
    ///   - bytesASecond: the flushed bytes that refill one second.
    init(patience: TimeAmount, bytesASecond: Int) {
        self.patience = patience
        self.bytesASecond = max(bytesASecond, 1)
        left = patience
    }

    /// Whether all written bytes are flushed.
    var isEmpty: Bool { waiting == 0 }

    /// Records written bytes.
    mutating func wrote(_ count: Int, now: NIODeadline) {
        if isEmpty { waitingSince = now }
        waiting += count
    }

    /// Records flushed bytes.
    mutating func took(_ count: Int, now: NIODeadline) {
        left = left - (now - waitingSince)
        waitingSince = now
        waiting -= count
        let earned = TimeAmount.nanoseconds(Int64(count) * 1_000_000_000 / Int64(bytesASecond))
        left = min(patience, left + earned)
    }

    /// Whether bytes have waited to be flushed for longer than the budget that is left.
    func isTooSlow(now: NIODeadline) -> Bool {
        !isEmpty && now - waitingSince > left
    }
}
