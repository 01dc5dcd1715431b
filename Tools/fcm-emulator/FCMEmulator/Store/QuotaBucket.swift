import FoundationEssentials
import Synchronization

/// A project's quota: so many requests a minute, in a bucket that is filled whole each 60 s.
///
/// The minutes begin with the first request, not with the clock's. Every request counts, refused ones too; a bucket
/// without a limit is never empty.
final class QuotaBucket: Sendable {
    /// How long a filling lasts, in seconds.
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

    /// The limit, and what is left of it.
    var standing: (perMinute: Int?, left: Int) { state.withLock { ($0.limit, $0.filledAt == nil ? $0.limit ?? 0 : $0.left) } }

    /// Takes one request out of the bucket; nil when it was there, else the seconds until the next filling.
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
