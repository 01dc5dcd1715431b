internal import Synchronization
internal import WireFormat

/// Remembers which lanes FCM has asked to slow down, so that all of a lane waits and not just the push that was told.
final class LanePauses: Sendable {
    private let resumeTimes = Mutex<[Lane: ContinuousClock.Instant]>([:])

    /// Has a lane wait; an earlier, longer pause stays.
    func pause(_ lane: Lane, for duration: Duration) {
        let resumeTime = ContinuousClock.now + duration
        resumeTimes.withLock { $0[lane] = max($0[lane] ?? resumeTime, resumeTime) }
    }

    /// Returns how long the lane still has to wait, or nil when it may go on.
    func remaining(_ lane: Lane) -> Duration? {
        resumeTimes.withLock { times in
            guard let resumeTime = times[lane] else { return nil }
            let now = ContinuousClock.now
            if resumeTime > now { return resumeTime - now }
            times[lane] = nil
            return nil
        }
    }
}
