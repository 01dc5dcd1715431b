import FoundationEssentials
import Synchronization

/// A project's quota of requests per minute: a bucket that is filled completely every 60 s.
///
/// The minutes begin with the first request, not with the minutes of the clock. Every request whose credentials and project are accepted
/// counts, even when a later check refuses it; a bucket without a limit is never empty.
final class QuotaBucket: Sendable {
    /// Period of the bucket, in seconds.
    static let periodSeconds = 60.0

    private struct State {
        var limit: Int?
        var left = 0
        var filledAt: Date?
    }

    private let state = Mutex(State())

    init(perMinute: Int?) { set(perMinute: perMinute) }

    /// Sets the limit (nil: none) and fills the bucket.
    func set(perMinute: Int?) { state.withLock { $0 = State(limit: perMinute) } }

    /// The limit, and the number of requests left in this period.
    var standing: (perMinute: Int?, left: Int) { state.withLock { ($0.limit, $0.filledAt == nil ? $0.limit ?? 0 : $0.left) } }

    /// Takes one request from the bucket; returns nil on success, or the seconds until the bucket is filled again.
    func take(now: Date) -> Double? {
        state.withLock { state in
            guard let limit = state.limit else { return nil }
            let age = state.filledAt.map { now.timeIntervalSince($0) } ?? Self.periodSeconds
            if age >= Self.periodSeconds || age < 0 {
                state.left = limit
                state.filledAt = now
            }
            guard state.left > 0 else { return Self.periodSeconds - min(max(age, 0), Self.periodSeconds) }
            state.left -= 1
            return nil
        }
    }
}
