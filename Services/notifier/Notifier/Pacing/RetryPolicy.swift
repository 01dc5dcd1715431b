internal import FCM

/// Says whether and when a push is sent again: after faults that pass, at growing distances, for an hour at most.
struct RetryPolicy: Sendable {
    /// The longest wait of our own choosing; FCM may ask for more.
    static let backoffMax: Duration = .seconds(600)
    /// After that long a push is given up, which is Google's own advice.
    static let ageMax: Duration = .seconds(3600)

    /// What becomes of a push that failed.
    enum Step: Equatable, Sendable {
        case after(Duration)
        /// It has had all its attempts.
        case tooOften
        /// Its hour would be over.
        case tooLate
    }

    /// How often a push is sent at all.
    let attemptsMax: Int
    /// The wait before the first retry; FCM asks for at least 10 seconds.
    let delayMin: Duration

    /// Returns what comes after attempt `attempt` (1 is the first) of a push that was addressed `age` ago.
    func next(
        after outcome: FCMOutcome, attempt: Int, age: Duration, jitter: Double = .random(in: 1...1.5)
    ) -> Step {
        guard attempt < attemptsMax else { return .tooOften }
        let doublings = min(max(attempt - 1, 0), 10)
        let backoff = min(delayMin * (1 << doublings), max(Self.backoffMax, delayMin)) * jitter
        let wait =
            switch outcome {
            case .quota(let wait): max(wait, backoff)
            case .transient(let wait): max(wait ?? .zero, backoff)
            default: backoff
            }
        return age + wait > Self.ageMax ? .tooLate : .after(wait)
    }
}
