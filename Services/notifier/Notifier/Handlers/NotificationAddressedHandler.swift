internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import WireFormat

/// Claims the deliveries of a notification and feeds them to the pipeline; retries are left to ``DueDeliveries``.
///
/// The event is handled when its deliveries are claimed, in the same transaction, so the events behind it never wait for an
/// answer of FCM, for a retry or for a lane to open again. When its lane has no room for long, because FCM is slow, the event is
/// deferred: its deliveries stay unclaimed until it comes again or they expire, whichever is first.
struct NotificationAddressedHandler: EventHandler {
    let pipeline: PushPipeline

    func handle(_ event: Envelope<NotificationAddressed>, _ context: HandlerContext) async throws {
        let (pageID, lane) = (event.body.pageID, event.body.lane)
        if let suspension = pipeline.suspension(of: lane) {
            _ = try await context.commit { transaction in
                try await DeliveryRepository(transaction).deferUnclaimed(page: pageID, for: suspension.wait, code: suspension.code)
            }
            return
        }
        let cause = QueuedPush.Cause(requestID: event.requestID, traceparent: event.traceparent)
        let count = min(max(event.body.count, 1), DeliveryPage.maxMembers)
        let claimed = try await pipeline.feed(lane, count, cause) { lease in
            try await context.commit { transaction in
                // An asynchronous commit that is lost loses claim and inbox entry together: the event comes again and claims again.
                try await transaction.commitAsynchronously()
                try await transaction.forceIndexPlans(replan: false)
                return try await DeliveryRepository(transaction).claim(page: pageID, lease: lease)
            } ?? []
        }
        if claimed == nil { throw HandlerDeferral(delay: pipeline.limits.roomRetry, reason: "the lane has no room") }
    }
}
