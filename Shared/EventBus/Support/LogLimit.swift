import AsyncPrimitives
import Synchronization

/// Limits the lines on one subject to one an interval.
final class LogLimit: Sendable {
    private let interval: Duration
    private let clock: any MonotonicClock
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(every interval: Duration, clock: any MonotonicClock) { (self.interval, self.clock) = (interval, clock) }

    /// Returns true if no line was written for the interval, and counts this one as written.
    func admits() -> Bool {
        let now = clock.now
        return last.withLock { last in
            if let written = last, now - written < interval { return false }
            last = now
            return true
        }
    }
}
