/// The failure of an action.
struct LoadFailure: Error, Hashable {
    /// The sorts of failures, counted separately.
    enum Sort: String {
        /// The service refused the request, or could not be reached.
        case failed
        /// A limit of the service for one account or address refused the request (429).
        case refused
        /// The action was never started: no account was free, or too many actions were in flight.
        case notStarted = "not_started"
    }

    let sort: Sort
    /// The stage that was not reached; nil for an action that was not started.
    let stage: LoadStage?
    /// A status with its code, an outcome, or a network fault; one of a few texts, never with an id.
    let reason: String
    /// The Retry-After of the service for this account.
    let retryAfter: Duration?

    init(_ sort: Sort = .failed, at stage: LoadStage?, _ reason: String, retryAfter: Duration? = nil) {
        self.sort = sort
        self.stage = stage
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The longest Retry-After that is respected before and after the load, where no measurements are made.
    private static let maxWait: Duration = .seconds(90)

    /// The wait before another attempt, before and after the load; nil when the failure is not retried.
    var wait: Duration? { retryAfter.flatMap { $0 <= Self.maxWait ? $0 : nil } }

    /// The failure without its Retry-After, as a key to count by.
    var countingKey: LoadFailure { LoadFailure(sort, at: stage, reason) }
}
