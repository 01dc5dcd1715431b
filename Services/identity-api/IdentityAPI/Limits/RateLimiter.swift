internal import Synchronization

/// How much of something a key may do.
struct Rate: Sendable, Equatable {
    /// What comes back to a key in a minute; 0 means there is no limit.
    var perMinute: Int
    /// What a key may do at once, after it has done nothing for a while.
    var burst: Int
}

/// A token bucket for each key, in the memory of this instance: n instances together let through n times the rate.
///
/// A bucket is one instant, at which it will be full again. Buckets are kept in two generations: when the young one is
/// full it becomes the old one, and what nobody touched since the time before is forgotten. So the table is bounded and
/// never searched; whoever has as many keys as a generation has places gets new buckets, and nobody is refused for it.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Generations {
        var young: [Key: ContinuousClock.Instant] = [:]
        var old: [Key: ContinuousClock.Instant] = [:]
    }

    private let burst: Int
    /// The time in which one token comes back; nil for no limit.
    private let interval: Duration?
    private let generationSize: Int
    private let generations = Mutex(Generations())

    /// Makes a limiter.
    ///
    /// - Parameter generationSize: keys of a generation; at most twice as many are known at a time.
    init(_ rate: Rate, generationSize: Int = 32_768) {
        burst = rate.burst
        interval = rate.perMinute > 0 ? .seconds(60) / rate.perMinute : nil
        self.generationSize = generationSize
    }

    /// Takes a token from the key's bucket.
    ///
    /// - Returns: nil when there was one; otherwise the time until there is one.
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

    /// How many keys are known.
    var count: Int { generations.withLock { $0.young.count + $0.old.count } }
}

extension APIError {
    /// The refusal for a client that has to wait.
    static func rateLimited(_ message: String, wait: Duration) -> APIError {
        let (seconds, rest) = wait.components
        return APIError(.rateLimited, message, retryAfter: max(1, Int(seconds) + (rest > 0 ? 1 : 0)))
    }
}
