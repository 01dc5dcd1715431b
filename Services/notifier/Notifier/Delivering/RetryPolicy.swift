internal import FCM

/// Says whether and when a push is sent again: after faults that pass, a few times, at growing distances.
struct RetryPolicy: Sendable {
    /// The longest wait of our own choosing; FCM may ask for more.
    static let backoffMax: Duration = .seconds(600)

    /// How often a push is sent at all.
    let attemptsMax: Int
    /// The wait before the first retry; FCM asks for at least 10 seconds.
    let delayMin: Duration

    /// Returns how long to wait after attempt `attempt` (1 is the first), or nil when it was the last.
    func delay(after outcome: FCMOutcome, attempt: Int, jitter: Double = .random(in: 1...1.5)) -> Duration? {
        guard outcome.isRetryable, attempt < attemptsMax else { return nil }
        let doublings = min(max(attempt - 1, 0), 10)
        let backoff = min(delayMin * (1 << doublings), max(Self.backoffMax, delayMin)) * jitter
        return switch outcome {
        case .quota(let wait): max(wait, backoff)
        case .transient(let wait): max(wait ?? .zero, backoff)
        default: backoff
        }
    }
}
