internal import FoundationEssentials
internal import Synchronization

/// A circuit breaker that is open while the daily quota is exhausted, so that no job waits for a call that would be refused.
final class QuotaBreaker: Sendable {
    private struct Opening {
        let until: Date
        var nextProbe: Date
    }

    private let opening = Mutex<Opening?>(nil)
    private let probeInterval: TimeInterval

    init(probeInterval: Duration) {
        self.probeInterval = TimeInterval(probeInterval.components.seconds)
    }

    /// Returns the time until which calls are refused; nil when a call may be made.
    ///
    /// Admits one probe per interval: the quota may have been raised, and Google's day follows daylight saving time, which
    /// ``nextReset(after:)`` ignores.
    func refusal(now: Date) -> Date? {
        opening.withLock { opening in
            guard var current = opening, now < current.until else {
                opening = nil
                return nil
            }
            guard now < current.nextProbe else {
                current.nextProbe = now.addingTimeInterval(probeInterval)
                opening = current
                return nil
            }
            return current.until
        }
    }

    func open(until: Date, now: Date) {
        opening.withLock { $0 = Opening(until: until, nextProbe: now.addingTimeInterval(probeInterval)) }
    }

    func close() {
        opening.withLock { $0 = nil }
    }

    /// Returns the next reset of the daily quota: midnight Pacific Standard Time, 08:00 UTC. With daylight saving time the
    /// real reset is an hour earlier.
    static func nextReset(after now: Date) -> Date {
        let (day, reset) = (86_400.0, 8 * 3600.0)
        let days = ((now.timeIntervalSince1970 - reset) / day).rounded(.down) + 1
        return Date(timeIntervalSince1970: days * day + reset)
    }
}
