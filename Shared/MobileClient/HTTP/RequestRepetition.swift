internal import Foundation

/// Decides whether and when a request is repeated after an error.
struct RequestRepetition: Sendable {
    var maxAttempts = 3
    var base: Duration = .milliseconds(500)
    var cap: Duration = .seconds(20)
    /// The longest time that the API may name; a call that would wait for longer fails.
    var maxRetryAfter: Duration = .seconds(30)
    /// A random number from 0 to 1, so that devices that fail together do not come back together.
    var random: @Sendable () -> Double = { .random(in: 0...1) }

    /// The time to wait before the next attempt; nil without a further attempt.
    ///
    /// - Parameter attempt: The number of attempts so far.
    func delay(after error: HeliographError, attempt: Int) -> Duration? {
        guard attempt < maxAttempts, error.isRetryable, Self.mayPass(error) else { return nil }
        if let retryAfter = error.retryAfter {
            return retryAfter <= maxRetryAfter ? retryAfter + base * random() : nil
        }
        // Full jitter: any time up to the bound, which grows twofold.
        return min(cap, base * Double(1 << min(attempt - 1, 16))) * random()
    }

    /// Whether another attempt of the same request has a chance within seconds.
    private static func mayPass(_ error: HeliographError) -> Bool {
        switch error.status {
        case nil: [.unreachable, .timedOut].contains(error.code)
        case 409: error.code == .requestInProgress
        case 429: error.retryAfter != nil
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

/// Bounds the repetitions of all requests of a client together, so that clients do not multiply the load of an API in trouble.
///
/// Ten repetitions in a row at most; then one for each ten requests that succeed.
struct RepetitionBudget: Sendable {
    private static let capacity = 10.0
    private static let gain = 0.1

    private var tokens = capacity

    mutating func noteSuccess() { tokens = min(Self.capacity, tokens + Self.gain) }

    /// Takes one repetition; false when none is left.
    mutating func take() -> Bool {
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
