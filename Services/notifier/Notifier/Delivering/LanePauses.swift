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

    /// Returns when the lane may go on once its pause, if any, is over.
    func wait(_ lane: Lane) async throws {
        while let resumeTime = resumeTimes.withLock({ $0[lane] }) {
            if resumeTime <= .now {
                resumeTimes.withLock { times in
                    if times[lane] == resumeTime { times[lane] = nil }
                }
            } else {
                try await Task.sleep(until: resumeTime, clock: .continuous)
            }
        }
    }
}
