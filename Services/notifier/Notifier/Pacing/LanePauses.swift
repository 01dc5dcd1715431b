internal import FoundationEssentials
internal import Synchronization
internal import WireFormat

/// Remembers which lanes FCM has asked to slow down, so that all of a lane waits and not just the push that was told.
///
/// FCM says the same of the project's quota and of one device's (ErrorCode QUOTA_EXCEEDED of its v1 API). So refusals of a few devices
/// are taken for their own, whose pushes wait by themselves; when ``installsMin`` are refused within ``memory``, it is the project's.
/// Only installations with a user signed in count: any caller can have pushes sent to the others.
final class LanePauses: Sendable {
    /// Refusals that are further apart have nothing to do with each other.
    static let memory: Duration = .seconds(10)
    /// So many installations have to be refused: the phones of one noisy conversation of two do not hold up a lane.
    static let installsMin = 3

    private struct State {
        var resumeTimes: [Lane: ContinuousClock.Instant] = [:]
        /// When each installation was refused last; no more than ``installsMin`` of a lane are needed.
        var refusals: [Lane: [UUID: ContinuousClock.Instant]] = [:]
    }

    private let state = Mutex(State())

    /// Notes that a push was refused for its quota, and how long FCM wants that to last: has the lane wait if enough other
    /// installations were refused as well. An earlier, longer pause stays.
    ///
    /// - Parameter isBound: Whether a user is signed in on the installation.
    /// - Returns: Whether the lane waits.
    @discardableResult
    func refused(
        _ lane: Lane, _ installID: UUID, isBound: Bool, for duration: Duration, at now: ContinuousClock.Instant = .now
    ) -> Bool {
        state.withLock { state in
            let isPaused = (state.resumeTimes[lane] ?? now) > now
            guard isBound else { return isPaused }
            var refusals = (state.refusals[lane] ?? [:]).filter { now - $1 < Self.memory }
            if refusals.count < Self.installsMin || refusals[installID] != nil { refusals[installID] = now }
            state.refusals[lane] = refusals
            guard refusals.count >= Self.installsMin else { return isPaused }
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
