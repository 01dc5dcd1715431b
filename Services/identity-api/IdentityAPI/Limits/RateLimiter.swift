internal import Synchronization

/// The rate of a token bucket.
struct Rate: Sendable, Equatable {
    /// The tokens that a key regains per minute; 0 means no limit.
    var perMinute: Int
    /// The capacity of the bucket: the number of actions that a key may do at once after a pause.
    var burst: Int
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

    private let burst: Int
    /// The time to regain one token; nil for no limit.
    private let interval: Duration?
    private let generationSize: Int
    private let generations = Mutex(Generations())

    /// Creates a limiter.
    ///
    /// - Parameter generationSize: The maximum number of keys of a generation; the table holds at most twice as many.
    init(_ rate: Rate, generationSize: Int = 32_768) {
        burst = rate.burst
        interval = rate.perMinute > 0 ? .seconds(60) / rate.perMinute : nil
        self.generationSize = generationSize
    }

    /// Takes a token from the key's bucket.
    ///
    /// - Returns: nil when a token was taken; otherwise the time until there is one.
    func take(_ key: Key, now: ContinuousClock.Instant = .now) -> Duration? {
        guard let interval else { return nil }
        return generations.withLock { generations in
            let fullAt = max(generations.young[key] ?? generations.old[key] ?? now, now) + interval
            let wait = (fullAt - now) - interval * burst
            guard wait <= .zero else { return wait }
            if generations.young.count >= generationSize, generations.young[key] == nil {
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[key] = fullAt
            return nil
        }
    }

    /// The number of keys in the table.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }
}

extension APIError {
    /// The refusal for a client that has to wait.
    static func rateLimited(_ message: String, wait: Duration) -> APIError {
        let (seconds, rest) = wait.components
        return APIError(.rateLimited, message, retryAfter: max(1, Int(seconds) + (rest > 0 ? 1 : 0)))
    }
}
