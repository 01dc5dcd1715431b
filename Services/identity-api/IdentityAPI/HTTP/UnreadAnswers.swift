internal import NIOCore

/// How long a client leaves its answers unread: a stock of time, which is used up while bytes wait to be taken and comes back
/// with those that are.
struct UnreadAnswers {
    private let patience: TimeAmount
    private let bytesASecond: Int
    private var left: TimeAmount
    private var waitingSince = NIODeadline.now()
    private var waiting = 0

    /// - Parameters:
    ///   - patience: the stock.
    ///   - bytesASecond: how many bytes bring a second of it back.
    init(patience: TimeAmount, bytesASecond: Int) {
        self.patience = patience
        self.bytesASecond = max(bytesASecond, 1)
        left = patience
    }

    /// Whether all that was written was taken.
    var isEmpty: Bool { waiting == 0 }

    /// Notes bytes that are to be taken.
    mutating func wrote(_ count: Int, now: NIODeadline) {
        if isEmpty { waitingSince = now }
        waiting += count
    }

    /// Notes bytes that were taken.
    mutating func took(_ count: Int, now: NIODeadline) {
        left = left - (now - waitingSince)
        waitingSince = now
        waiting -= count
        let earned = TimeAmount.nanoseconds(Int64(count) * 1_000_000_000 / Int64(bytesASecond))
        left = min(patience, left + earned)
    }

    /// Whether the client is to be waited for no longer.
    func isTooSlow(now: NIODeadline) -> Bool {
        !isEmpty && now - waitingSince > left
    }
}
