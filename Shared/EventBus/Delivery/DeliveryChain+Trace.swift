import Tracing
import WireFormat

extension DeliveryChain {
    /// Runs the next steps in the trace of the message, and ends the span of its handling with their result or error.
    static func traced<Body: Event>(
        _ next: @escaping DeliveryStep<Body>
    ) -> @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async -> ProcessingResult {
        { event, entry, scope in
            let span = HandlerSpan(of: event, entry, in: scope)
            let result = await InstrumentationContext.withValue(span.context) { () -> ProcessingResult in
                do {
                    return try await next(event.traced(by: span.traceparent), entry, scope)
                } catch {
                    return .failed(error)
                }
            }
            span.end(result)
            return result
        }
    }
}
