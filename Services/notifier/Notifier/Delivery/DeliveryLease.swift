internal import FoundationEssentials
internal import Push
internal import Synchronization

/// The lease of a claimed page, or of a claimed delivery with a row of its own: shared by its pushes, and held until their outcomes are
/// written.
final class DeliveryLease: Sendable {
    private struct State {
        var openCount: Int
        var end: ContinuousClock.Instant
    }

    /// The claim in the database.
    let claim: DeliveryClaim
    private let state: Mutex<State>
    private let revoked = Atomic(false)

    /// - Parameters:
    ///   - count: The number of its pushes.
    ///   - end: When the lease ends unless it is renewed, or a little earlier.
    init(_ claim: DeliveryClaim, count: Int, until end: ContinuousClock.Instant) {
        self.claim = claim
        state = Mutex(State(openCount: count, end: end))
    }

    /// When it ends unless it is renewed.
    var end: ContinuousClock.Instant { state.withLock { $0.end } }

    /// Whether it is no longer needed: the outcome of each of its pushes is written, or given up.
    var isOver: Bool { state.withLock { $0.openCount == 0 } }

    /// Whether its pushes must not be sent any more, because another sender may have them.
    var isRevoked: Bool { revoked.load(ordering: .relaxed) }

    /// Records that the outcome of one of its pushes is written, or given up.
    func endOne() { state.withLock { $0.openCount -= 1 } }

    func renew(until end: ContinuousClock.Instant) { state.withLock { $0.end = end } }

    /// - Returns: Whether it was not revoked before.
    func revoke() -> Bool { !revoked.exchange(true, ordering: .relaxed) }
}
