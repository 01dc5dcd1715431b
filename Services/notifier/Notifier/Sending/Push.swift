internal import FCM
internal import Storage

/// A claimed delivery on its way out: what is sent, and what is needed to write how it ended.
struct Push: Sendable {
    let delivery: ClaimedDelivery
    /// What is sent; shared by all pushes of a notification. A failure to render it ends the delivery.
    let content: Result<FCMMessage, RenderingFailure>
    /// The number on the app's icon; nil leaves it as it is.
    let badge: Int?
    /// When it is too late to begin a send within the delivery's lease.
    let deadline: ContinuousClock.Instant
    /// What its outcome is published with.
    let cause: Cause
    /// The span of its batch; nil when its trace is not recorded.
    var trace: SendTrace?
    /// The lease it shares; nil when it has one of its own.
    let lease: PushLease?

    /// The request and the trace at the root of a push.
    struct Cause: Sendable, Hashable {
        var requestID: String?
        var traceparent: String?
    }
}

/// Why a notification cannot be sent to anybody.
struct RenderingFailure: Error {
    /// The word in the ledger.
    let code: String
    /// What the log says; no text of the push.
    let reason: String
}
