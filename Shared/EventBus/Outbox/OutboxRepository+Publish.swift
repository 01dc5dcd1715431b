public import FoundationEssentials
public import Storage
public import WireFormat

extension OutboxRepository {
    /// Notes an event for publication; it leaves once the transaction is committed, and never if it is not.
    ///
    /// - Parameters:
    ///   - requestID: The id of the HTTP request at the root of it.
    ///   - traceparent: The W3C trace parent of the work that causes the event.
    ///   - expiresAt: After this time nobody needs to act upon the event.
    /// - Throws: `WireFormatError` when the event is over a limit, `PostgresError` when the row cannot be written; in a
    ///   transaction its next statement or the commit throws that.
    public func publish(
        _ event: some Event, requestID: String? = nil, traceparent: String? = nil, expiresAt: Date? = nil
    ) async throws {
        try await publish([event], requestID: requestID, traceparent: traceparent, expiresAt: expiresAt)
    }

    /// Notes events for publication, with one statement.
    public func publish<Body: Event>(
        _ events: [Body], requestID: String? = nil, traceparent: String? = nil, expiresAt: Date? = nil
    ) async throws {
        let rows = try events.map { event in
            try NewOutboxMessage(
                Envelope(event, traceparent: traceparent, requestID: requestID, expiresAt: expiresAt))
        }
        try await append(rows)
    }

    /// Notes an event that another one caused: it carries the request id and the trace on.
    public func publish(
        _ event: some Event, causedBy cause: Envelope<some Event>, expiresAt: Date? = nil
    ) async throws {
        try await publish(event, requestID: cause.requestID, traceparent: cause.traceparent, expiresAt: expiresAt)
    }
}
