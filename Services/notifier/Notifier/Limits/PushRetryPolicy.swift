internal import AsyncPrimitives
internal import FCM

/// Decides whether and when a failed push is sent again: with exponential backoff, for an hour at most.
struct PushRetryPolicy: Sendable {
    /// The longest backoff without its jitter; FCM may ask for a longer wait.
    static let maxBackoff: Duration = .seconds(600)
    /// The age at which a push is given up, as Google advises.
    static let maxAge: Duration = .seconds(3600)

    /// The next step for a push that failed.
    enum Step: Equatable, Sendable {
        /// It is sent again after this wait.
        case after(Duration)
        /// It has had ``maxAttempts`` attempts.
        case attemptsExhausted
        /// It would be older than ``maxAge`` at its next attempt.
        case tooOld
    }

    /// The most attempts of a push, the first included.
    let maxAttempts: Int
    /// The wait before the first retry; FCM asks for at least 10 seconds.
    let minDelay: Duration

    /// Returns the step after attempt `attempt` (1 is the first) of a push that was addressed `age` ago.
    func next(
        after outcome: FCMOutcome, attempt: Int, age: Duration, jitter: Double = .random(in: 1...1.5)
    ) -> Step {
        guard attempt < maxAttempts else { return .attemptsExhausted }
        // FCM asks for at least 10 seconds: the delays are lengthened at random instead of shortened.
        let backoff = Backoff(min: minDelay, max: Self.maxBackoff, randomShare: 0).delay(afterFailures: max(attempt, 1)) * jitter
        let wait =
            switch outcome {
            case .quota(let wait): max(wait, backoff)
            case .transient(let wait): max(wait ?? .zero, backoff)
            default: backoff
            }
        return age + wait > Self.maxAge ? .tooOld : .after(wait)
    }
}
