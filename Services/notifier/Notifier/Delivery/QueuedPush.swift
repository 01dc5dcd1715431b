internal import FCM
internal import HeliographTracing
internal import Push

/// A claimed delivery with its content, and with the data to write its outcome.
///
/// A class, because it is passed between many types between its claim and its outcome.
final class QueuedPush: Sendable {
    let delivery: ClaimedDelivery
    /// The message, shared by all pushes of a notification. A failure to render it settles the delivery.
    let content: Result<FCMMessage, RenderingFailure>
    /// The number on the app's icon; nil leaves it as it is.
    let badge: Int?
    /// The latest start of a send: after it the data read at the claim is too old.
    let deadline: ContinuousClock.Instant
    /// The lease under which it is sent.
    let lease: DeliveryLease
    /// The pushes of the same notification that were claimed with it.
    let batch: PushBatch

    init(
        delivery: ClaimedDelivery, content: Result<FCMMessage, RenderingFailure>, badge: Int?, deadline: ContinuousClock.Instant,
        lease: DeliveryLease, batch: PushBatch
    ) {
        self.delivery = delivery
        self.content = content
        self.badge = badge
        self.deadline = deadline
        self.lease = lease
        self.batch = batch
    }

    /// The request and the trace that caused a push.
    struct Cause: Sendable {
        let requestID: String?
        let traceparent: String?
    }
}

/// The pushes of one notification that were claimed together.
final class PushBatch: Sendable {
    /// The request and the trace that their outcomes are published with.
    let cause: QueuedPush.Cause
    /// The span of their sending; nil when the trace is not recorded.
    let trace: SendTrace?
    /// The context of log lines about them.
    let work: WorkContext

    /// - Parameter cause: The event that has them sent; nil when their due time does, and then the notification's request is the cause.
    init(of notification: ClaimedNotification, count: Int, causedBy cause: QueuedPush.Cause?) {
        let cause = cause ?? QueuedPush.Cause(requestID: notification.requestID, traceparent: notification.traceparent)
        trace = SendTrace(cause, notification.lane, count: count)
        self.cause = QueuedPush.Cause(requestID: cause.requestID, traceparent: trace?.traceparent ?? cause.traceparent)
        work = WorkContext(requestID: cause.requestID, traceparent: cause.traceparent)
    }
}

/// The reason why a notification cannot be sent at all.
struct RenderingFailure: Error {
    /// The code of its deliveries.
    let code: String
    /// The text in the log; contains no text of the push.
    let reason: String
}
