import PostgresClient
import WireFormat

extension DeliveryChain {
    /// Ends the delivery of a message that its group has handled before.
    static func skippingDuplicates(_ postgres: PostgresClient, _ next: @escaping DeliveryStep) -> DeliveryStep {
        { message, entry, scope in
            // After a failure or a crash the work may be done already; a query costs less than repeating it.
            if entry.deliveryCount > 1 || entry.onlyGroup != nil,
                try await !InboxRepository(postgres).handled(group: scope.group, ids: [message.id]).isEmpty
            {
                return .duplicate
            }
            return try await next(message, entry, scope)
        }
    }

    /// Has a message handled, and marks it in the inbox unless the handler has marked it with its effect.
    static func handlingAndMarking<Handler: EventHandler>(
        _ postgres: PostgresClient, _ handler: Handler
    ) -> HandlingStep<Handler.Body> {
        { event, entry, scope in
            let context = HandlerContext(event, entry, in: scope, postgres: postgres)
            try await handler.handle(event, context)
            try await context.markIfNeeded()
            return context.wasDuplicate ? .duplicate : .handled
        }
    }
}
