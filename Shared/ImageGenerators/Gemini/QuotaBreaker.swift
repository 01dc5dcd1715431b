internal import FoundationEssentials
internal import Synchronization

/// Remembers that the quota of a day is used up, so that no job waits for a call that will be refused.
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

    /// Returns until when calls are refused, or nil when one may be made.
    ///
    /// One call is let through at each interval: somebody may have bought more, and Google counts its days in a time
    /// zone with summer time, of which nothing is known here.
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

    /// When the quota of a day is back: at midnight Pacific Standard Time, 08:00 UTC. In summer it is back an hour
    /// earlier.
    static func nextReset(after now: Date) -> Date {
        let (day, reset) = (86_400.0, 8 * 3600.0)
        let days = ((now.timeIntervalSince1970 - reset) / day).rounded(.down) + 1
        return Date(timeIntervalSince1970: days * day + reset)
    }
}
