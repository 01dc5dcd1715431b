internal import AsyncPrimitives

/// Keys as a key server has sent them, with the time for which it says they are fresh.
struct FetchedKeys<Key: Sendable>: Sendable {
    let keys: [String: Key]
    let lifetime: Duration
}

/// The limits of a ``SigningKeyCache``.
struct SigningKeyLimits: Sendable {
    /// The least time for which keys count as fresh, whatever their server says.
    var minLifetime = Duration.seconds(60)
    /// The longest time for which keys count as fresh, whatever their server says. Google says some six hours.
    var maxLifetime = Duration.seconds(24 * 60 * 60)
    /// The time for which keys are used that are not fresh any more, because their server does not answer.
    var maxStaleTime = Duration.seconds(24 * 60 * 60)
    /// The least time between two fetches for the sake of a key that is not known: any caller can name one.
    var unknownKeyInterval = Duration.seconds(60)
    /// The wait after fetches that failed.
    var backoff = Backoff(min: .seconds(1), max: .seconds(60))
    /// The share of the lifetime after which keys are fetched again.
    var refreshShare = 5.0 / 6
}

/// Keys of an issuer of tokens and the decision when to fetch them: a state machine that fetches nothing itself.
///
/// After `find` has answered `fetch`, or `beginRefresh` true, the caller fetches and reports by `finish`. There is one fetch at a time.
struct SigningKeyCache<Key: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The answer to a look-up.
    enum Step {
        case known(Key)
        /// The issuer has no such key, as of a fetch within ``SigningKeyLimits/unknownKeyInterval``.
        case unknown
        /// Whether the issuer has such a key cannot be said now, because its server does not answer.
        case undecided
        /// To be asked again after the fetch that is under way.
        case wait
        /// To be asked again after a fetch, which the caller starts.
        case fetch
    }

    private let limits: SigningKeyLimits
    private var keys: [String: Key] = [:]
    /// The end of the time for which ``keys`` may be used; nil before the first fetch.
    private var usableUntil: Instant?
    /// The time of the next fetch in the background, or after a failure of the earliest one.
    private(set) var nextFetch: Instant
    private(set) var isFetching = false
    /// Failed fetches in a row.
    private var failures = 0
    /// The last fetch for the sake of an unknown key.
    private var lastForcedFetch: Instant?

    /// Makes a cache without keys, whose first fetch is due.
    init(limits: SigningKeyLimits = SigningKeyLimits(), now: Instant) {
        self.limits = limits
        nextFetch = now
    }

    /// Looks a key up.
    mutating func find(_ id: String, at now: Instant) -> Step {
        let isUsable = usableUntil.map { now < $0 } ?? false
        if isUsable, let key = keys[id] { return .known(key) }
        if isFetching { return .wait }
        if isUsable {
            let isAllowed = lastForcedFetch.map { now >= $0 + limits.unknownKeyInterval } ?? true
            guard isAllowed else { return failures > 0 ? .undecided : .unknown }
            lastForcedFetch = now
        } else if now < nextFetch {
            return .undecided
        }
        isFetching = true
        return .fetch
    }

    /// Whether a key is there and may be used.
    func has(_ id: String, at now: Instant) -> Bool { usableUntil.map { now < $0 } ?? false && keys[id] != nil }

    /// Returns whether a fetch in the background is due, which the caller then starts.
    mutating func beginRefresh(at now: Instant) -> Bool {
        guard !isFetching, now >= nextFetch else { return false }
        isFetching = true
        return true
    }

    /// Ends a fetch that succeeded.
    mutating func finish(_ fetched: FetchedKeys<Key>, at now: Instant) {
        let lifetime = min(max(fetched.lifetime, limits.minLifetime), limits.maxLifetime)
        isFetching = false
        failures = 0
        keys = fetched.keys
        usableUntil = now + lifetime + limits.maxStaleTime
        nextFetch = now + lifetime * limits.refreshShare
    }

    /// Ends a failed fetch; the present keys stay.
    ///
    /// - Parameter random: The random number for ``Backoff/delay(afterFailures:random:)``.
    mutating func finishFailed(at now: Instant, random: Double = .random(in: 0...1)) {
        isFetching = false
        failures += 1
        nextFetch = now + limits.backoff.delay(afterFailures: failures, random: random)
    }
}
