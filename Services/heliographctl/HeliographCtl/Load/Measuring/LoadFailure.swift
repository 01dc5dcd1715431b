/// Why something that somebody did came to nothing.
struct LoadFailure: Error, Hashable {
    /// What counts apart.
    enum Sort: String, Encodable {
        /// The service was asked and did not do it.
        case failed
        /// The service said that it was too much for one account or address (429): a limit did its work.
        case refused
        /// It was never begun: there was no account left, or too much was under way.
        case notStarted = "not_started"
    }

    let sort: Sort
    /// What it did not come to; nil for what was not begun.
    let stage: LoadStage?
    /// A status with its code, an outcome, or a fault of the network; one of a few, never with an id in it.
    let reason: String
    /// How long the service asked to be left alone with this account.
    let retryAfter: Duration?

    init(_ sort: Sort = .failed, at stage: LoadStage?, _ reason: String, retryAfter: Duration? = nil) {
        self.sort = sort
        self.stage = stage
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The longest that the service is waited for where nothing is measured, before the load and after it.
    private static let waitMax: Duration = .seconds(90)

    /// How long to wait for another try where nothing is measured; nil when there is no sense in one.
    var wait: Duration? { retryAfter.flatMap { $0 <= Self.waitMax ? $0 : nil } }

    /// The same without what differs from case to case, to count by.
    var counted: LoadFailure { LoadFailure(sort, at: stage, reason) }
}
