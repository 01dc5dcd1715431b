internal import FCM
internal import Storage
internal import TraceContext
internal import Tracing

/// A claimed delivery on its way out: what is sent, and what is needed to write how it ended.
///
/// One object, because it passes through many hands between its claim and its end.
final class Push: Sendable {
    let delivery: ClaimedDelivery
    /// What is sent; shared by all pushes of a notification. A failure to render it ends the delivery.
    let content: Result<FCMMessage, RenderingFailure>
    /// The number on the app's icon; nil leaves it as it is.
    let badge: Int?
    /// When it is too late to begin a send: what was read at the claim is too old, and the lease would end before it.
    let deadline: ContinuousClock.Instant
    /// What it has in common with those that are sent with it.
    let batch: PushBatch
    /// The lease it shares; nil when it has one of its own.
    let lease: PushLease?

    init(
        delivery: ClaimedDelivery, content: Result<FCMMessage, RenderingFailure>, badge: Int?, deadline: ContinuousClock.Instant,
        batch: PushBatch, lease: PushLease?
    ) {
        self.delivery = delivery
        self.content = content
        self.badge = badge
        self.deadline = deadline
        self.batch = batch
        self.lease = lease
    }

    /// The request and the trace at the root of a push.
    struct Cause: Sendable {
        let requestID: String?
        let traceparent: String?
    }
}

/// The pushes of one notification that were claimed together.
final class PushBatch: Sendable {
    /// What their outcomes are published with.
    let cause: Push.Cause
    /// The span of their sending; nil when the trace is not recorded.
    let trace: SendTrace?
    /// What log lines about them say of the work.
    let work: InstrumentationContext

    /// - Parameter cause: Who has them sent; nil when nobody but the clock does, and then who asked for the notification counts.
    init(of notification: ClaimedNotification, count: Int, causedBy cause: Push.Cause?) {
        let cause = cause ?? Push.Cause(requestID: notification.requestID, traceparent: notification.traceparent)
        trace = SendTrace(cause, notification.lane, count: count)
        self.cause = Push.Cause(requestID: cause.requestID, traceparent: trace?.traceparent ?? cause.traceparent)
        work = .work(requestID: cause.requestID, traceparent: cause.traceparent)
    }
}

/// Why a notification cannot be sent to anybody.
struct RenderingFailure: Error {
    /// The word in the ledger.
    let code: String
    /// What the log says; no text of the push.
    let reason: String
}
