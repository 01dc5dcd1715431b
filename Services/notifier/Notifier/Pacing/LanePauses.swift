internal import FoundationEssentials
internal import Synchronization
internal import WireFormat

/// Remembers which lanes FCM has asked to slow down, so that all of a lane waits and not just the push that was told.
///
/// FCM says the same of the project's quota and of one device's (ErrorCode QUOTA_EXCEEDED of its v1 API). So one refusal is taken
/// for the device's, whose push waits by itself; when a second device is refused soon after, it is the project's.
final class LanePauses: Sendable {
    /// Two refusals that are further apart have nothing to do with each other.
    static let memory: Duration = .seconds(10)

    private struct State {
        var resumeTimes: [Lane: ContinuousClock.Instant] = [:]
        var refusals: [Lane: (installID: UUID, time: ContinuousClock.Instant)] = [:]
    }

    private let state = Mutex(State())

    /// Notes that a push was refused for its quota, and how long FCM wants that to last: has the lane wait if another installation
    /// was refused as well. An earlier, longer pause stays.
    ///
    /// - Returns: Whether the lane waits.
    @discardableResult
    func refused(_ lane: Lane, _ installID: UUID, for duration: Duration, at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            let last = state.refusals.updateValue((installID, now), forKey: lane)
            guard let last, last.installID != installID, now - last.time < Self.memory else {
                return (state.resumeTimes[lane] ?? now) > now
            }
            state.resumeTimes[lane] = max(state.resumeTimes[lane] ?? now, now + duration)
            return true
        }
    }

    /// Returns how long the lane still has to wait, or nil when it may go on.
    func remaining(_ lane: Lane, at now: ContinuousClock.Instant = .now) -> Duration? {
        state.withLock { state in
            guard let resumeTime = state.resumeTimes[lane] else { return nil }
            if resumeTime > now { return resumeTime - now }
            state.resumeTimes[lane] = nil
            return nil
        }
    }
}
