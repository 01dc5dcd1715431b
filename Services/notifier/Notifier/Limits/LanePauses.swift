internal import AsyncPrimitives
internal import FoundationEssentials
internal import Synchronization
internal import WireFormat

/// Pauses the lanes that FCM has asked to slow down, so that the whole lane waits and not only the refused push.
///
/// FCM uses the same error for the project's quota and for one device's (ErrorCode QUOTA_EXCEEDED of its v1 API). Refusals of fewer
/// than ``minInstalls`` installations within ``memory`` count as the devices' own, and only those pushes wait; more count as the
/// project's. Only installations with a user signed in count: any caller can have pushes sent to the others.
final class LanePauses: Sendable {
    /// Refusals further apart than this are unrelated.
    static let memory: Duration = .seconds(10)
    /// The number of refused installations that pauses a lane: the two phones of one noisy conversation do not.
    static let minInstalls = 3

    private struct State {
        var resumeTimes: [Lane: ContinuousClock.Instant] = [:]
        /// The time each installation was last refused, by lane; at most ``minInstalls`` of a lane are kept.
        var refusals: [Lane: [UUID: ContinuousClock.Instant]] = [:]
    }

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = ContinuousClock()) { self.clock = clock }

    /// Records that FCM refused a push for its quota and asked for a pause of `duration`. Pauses the lane when enough installations
    /// were refused; an earlier, longer pause stays.
    ///
    /// - Parameter isBound: Whether a user is signed in on the installation.
    /// - Returns: Whether the lane is paused.
    @discardableResult
    func refused(_ lane: Lane, _ installID: UUID, isBound: Bool, for duration: Duration) -> Bool {
        let now = clock.now
        return state.withLock { state in
            let isPaused = (state.resumeTimes[lane] ?? now) > now
            guard isBound else { return isPaused }
            var refusals = (state.refusals[lane] ?? [:]).filter { now - $1 < Self.memory }
            if refusals.count < Self.minInstalls || refusals[installID] != nil { refusals[installID] = now }
            state.refusals[lane] = refusals
            guard refusals.count >= Self.minInstalls else { return isPaused }
            state.resumeTimes[lane] = max(state.resumeTimes[lane] ?? now, now + duration)
            return true
        }
    }

    /// Returns the rest of the lane's pause; nil when it is not paused.
    func remaining(_ lane: Lane) -> Duration? {
        state.withLock { state in
            guard let resumeTime = state.resumeTimes[lane] else { return nil }
            let now = clock.now
            if resumeTime > now { return resumeTime - now }
            state.resumeTimes[lane] = nil
            return nil
        }
    }
}
