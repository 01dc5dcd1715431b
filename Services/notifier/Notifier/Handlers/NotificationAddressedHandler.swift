internal import EventBus
internal import FoundationEssentials
internal import Storage
internal import WireFormat

/// Sends the deliveries of a notification, each once; what is to be repeated is left to ``DueDeliveries``.
///
/// So an event takes no longer than FCM takes to answer, whatever it answers, and the events behind it never wait for
/// a retry or for a lane to open again.
struct NotificationAddressedHandler: EventHandler {
    let dispatcher: DeliveryDispatcher
    let limits: DeliveryLimits

    func handle(_ event: Envelope<NotificationAddressed>, _ context: HandlerContext) async throws {
        var rest = event.body.deliveryIDs[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(limits.batchSize))
            rest = rest.dropFirst(limits.batchSize)
            _ = try await dispatcher.dispatch(causedBy: event, logger: context.logger) { deliveries, lease in
                try await deliveries.claim(batch, lease: lease)
            }
        }
        _ = try await context.commit { _ in }
    }
}
