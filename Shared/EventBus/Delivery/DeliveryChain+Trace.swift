import WireFormat

extension DeliveryChain {
    /// Runs the next steps in the trace of the message, and ends the span of its handling with their result or error.
    static func traced(
        _ type: EventType, _ next: @escaping DeliveryStep
    ) -> @Sendable (EncodedEnvelope, DeliveredEntry, ConsumerScope) async -> ProcessingResult {
        { message, entry, scope in
            let span = HandlerSpan(of: message, type, entry, in: scope)
            let result = await span.withContext { () async -> ProcessingResult in
                do {
                    return try await next(message.traced(by: span.traceparent), entry, scope)
                } catch {
                    return .failed(error)
                }
            }
            span.end(result)
            return result
        }
    }
}
