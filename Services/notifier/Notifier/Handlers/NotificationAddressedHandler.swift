internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Has the deliveries of a notification sent; what is to be repeated is left to ``DueDeliveries``.
///
/// The event is done when its deliveries are claimed, in the same transaction, so the events behind it never wait for an
/// answer of FCM, for a retry or for a lane to open again. Where its lane has no room for long, because FCM is slow, it is put off:
/// its deliveries stay as they are until it comes again or they expire, whichever is first.
struct NotificationAddressedHandler: EventHandler {
    let pipeline: PushPipeline

    func handle(_ event: Envelope<NotificationAddressed>, _ context: HandlerContext) async throws {
        let (ids, page, lane) = (event.body.deliveryIDs, event.body.page, event.body.lane)
        if let closure = pipeline.closure(of: lane) {
            _ = try await context.commit { transaction in
                if let page {
                    try await DeliveryPageRepository(transaction).putOff(page.id, for: closure.wait, code: closure.code)
                } else {
                    try await DeliveryRepository(transaction).putOff(ids, for: closure.wait, code: closure.code)
                }
            }
            return
        }
        let cause = Push.Cause(requestID: event.requestID, traceparent: event.traceparent)
        let count = page.map { min(max($0.count, 1), DeliveryPage.membersMax) } ?? ids.count
        let claimed = try await pipeline.feed(lane, count, cause) { lease in
            try await context.commit { transaction in
                // A claim that is forgotten, and with it that the event was handled, is made again when the event comes again.
                try await transaction.commitAsynchronously()
                try await transaction.findByKey(planningAnew: false)
                if let page { return try await DeliveryPageRepository(transaction).claim(page.id, lease: lease) }
                return try await DeliveryRepository(transaction).claim(
                    ids, of: event.body.notificationID, as: event.id, lane: lane, lease: lease)
            } ?? []
        }
        if claimed == nil { throw HandlerPostponement(delay: pipeline.limits.roomRetry, reason: "the lane has no room") }
    }
}
