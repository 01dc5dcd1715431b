internal import Synchronization

/// The rate of a token bucket.
struct Rate: Sendable, Equatable {
    /// The tokens that a key regains per minute; 0 means no limit.
    var perMinute: Int
    /// The capacity of the bucket: the number of actions that a key may do at once after a pause.
    var burst: Int
}

/// The remaining tokens of a bucket, for the response's header.
struct RateLimitState: Sendable, Equatable {
    /// The name of the policy.
    let name: String
    /// The tokens of a full bucket.
    let quota: Int
    /// The time in which an empty bucket becomes full.
    let window: Duration
    /// The tokens that are left.
    let remaining: Int
    /// The time until the bucket is full.
    let reset: Duration
    /// The time until there is a token; nil when one was taken.
    let wait: Duration?
}

/// A token bucket for each key, in the memory of this instance: n instances together let through n times the rate.
///
/// A bucket is stored as the instant at which it will be full again. Buckets are kept in two generations: when the young one is full,
/// it becomes the old one, and buckets unused since the change before are dropped. So the table is bounded and never searched. A
/// client with more keys than a generation holds gets fresh buckets, and no request is refused because the table is full.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Generations {
        var young: [Key: ContinuousClock.Instant] = [:]
        var old: [Key: ContinuousClock.Instant] = [:]
    }

    private let name: String
    private let burst: Int
    /// The time to regain one token; nil for no limit.
    private let interval: Duration?
    private let generationSize: Int
    private let generations = Mutex(Generations())

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - name: The name of its policy in responses: letters, digits and underscores.
    ///   - generationSize: The maximum number of keys of a generation; the table holds at most twice as many.
    init(_ rate: Rate, name: String = "requests", generationSize: Int = 32_768) {
        self.name = name
        burst = rate.burst
        interval = rate.perMinute > 0 ? .seconds(60) / rate.perMinute : nil
        self.generationSize = generationSize
    }

    /// Takes a token from the key's bucket.
    ///
    /// - Returns: nil when a token was taken; otherwise the time until there is one.
    func take(_ key: Key, now: ContinuousClock.Instant = .now) -> Duration? { state(taking: key, now: now)?.wait }

    /// Takes a token from the key's bucket and returns the bucket's state; nil when there is no limit.
    func state(taking key: Key, now: ContinuousClock.Instant = .now) -> RateLimitState? {
        guard let interval else { return nil }
        return generations.withLock { generations in
            let before = max(generations.young[key] ?? generations.old[key] ?? now, now)
            let fullAt = before + interval
            let wait = (fullAt - now) - interval * burst
            guard wait <= .zero else { return state(missing: before - now, interval, wait: wait) }
            if generations.young.count >= generationSize, generations.young[key] == nil {
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[key] = fullAt
            return state(missing: fullAt - now, interval, wait: nil)
        }
    }

    /// The state of a bucket that is full after a time.
    private func state(missing: Duration, _ interval: Duration, wait: Duration?) -> RateLimitState {
        RateLimitState(
            name: name, quota: burst, window: interval * burst, remaining: wait == nil ? burst - Int((missing / interval).rounded(.up)) : 0,
            reset: missing, wait: wait)
    }

    /// The number of keys in the table.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }
}

extension APIError {
    /// The refusal for a client that has to wait.
    static func rateLimited(_ message: String, wait: Duration) -> APIError {
        APIError(.rateLimited, message, retryAfter: wait.wholeSecondsUp)
    }
}

extension Duration {
    /// Whole seconds, rounded up, and at least one.
    var wholeSecondsUp: Int {
        let (seconds, rest) = components
        return max(1, Int(seconds) + (rest > 0 ? 1 : 0))
    }
}
