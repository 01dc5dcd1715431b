public import FoundationEssentials
public import WireFormat

extension OutboxRepository {
    /// Adds an event to the outbox; it is published once the transaction is committed, and never if it is not.
    ///
    /// - Parameters:
    ///   - requestID: The id of the HTTP request at the root of it.
    ///   - traceparent: The W3C trace parent of the work that causes the event.
    ///   - expiresAt: The time after which no handler needs to act upon the event.
    /// - Throws: `WireFormatError` when the event is over a limit, `PostgresError` when the row cannot be written; in a
    ///   transaction its next statement or the commit throws that.
    public func publish(
        _ event: some Event, requestID: String? = nil, traceparent: String? = nil, expiresAt: Date? = nil
    ) async throws {
        try await publish([event], requestID: requestID, traceparent: traceparent, expiresAt: expiresAt)
    }

    /// Adds events to the outbox with one statement.
    public func publish<Body: Event>(
        _ events: [Body], requestID: String? = nil, traceparent: String? = nil, expiresAt: Date? = nil
    ) async throws {
        let rows = try events.map { event in
            try NewOutboxMessage(
                Envelope(event, traceparent: traceparent, requestID: requestID, expiresAt: expiresAt))
        }
        try await append(rows)
    }

    /// Adds an event that another one caused: it gets its request id and trace.
    public func publish(
        _ event: some Event, causedBy cause: Envelope<some Event>, expiresAt: Date? = nil
    ) async throws {
        try await publish(event, requestID: cause.requestID, traceparent: cause.traceparent, expiresAt: expiresAt)
    }
}
