public import FoundationEssentials

/// A typed message: what happened, and what every consumer needs to know about the telling of it.
public struct Envelope<Body: Event>: Sendable, Equatable {
    /// The message's own id, a UUID of version 7. A message that is sent twice keeps it, so it is the key for deduplication.
    public let id: UUID
    /// When it happened, to the millisecond.
    public let occurredAt: Date
    /// The W3C trace parent of the work that caused the event.
    public let traceparent: String?
    /// The id of the HTTP request at the root of it all.
    public let requestID: String?
    /// After this time the event need not be acted upon; to the millisecond.
    public let expiresAt: Date?
    /// The version of the schema that the body was written in.
    public let version: Int
    /// What happened.
    public let body: Body

    public var type: EventType { Body.type }
    public var key: String { body.key }
    /// The stream that carries this message.
    public var stream: String { body.stream }

    /// Wraps a body; times are rounded to the millisecond, because that is what the wire carries.
    public init(
        _ body: Body, id: UUID = UUIDv7.generate(), version: Int = Body.version, occurredAt: Date = Date(),
        traceparent: String? = nil, requestID: String? = nil, expiresAt: Date? = nil
    ) {
        self.id = id
        self.version = version
        self.occurredAt = occurredAt.roundedToMilliseconds
        self.traceparent = traceparent
        self.requestID = requestID
        self.expiresAt = expiresAt?.roundedToMilliseconds
        self.body = body
    }

    /// The same message, under another trace parent.
    public func traced(by traceparent: String?) -> Envelope {
        Envelope(
            body, id: id, version: version, occurredAt: occurredAt, traceparent: traceparent, requestID: requestID,
            expiresAt: expiresAt)
    }

    /// Whether the event is past its time.
    public func isExpired(at now: Date = Date()) -> Bool {
        expiresAt.map { $0 <= now } ?? false
    }

    /// Writes the body as JSON.
    ///
    /// - Throws: ``WireFormatError`` when the body or a field of the envelope is over its limit.
    public func encoded() throws(WireFormatError) -> EncodedEnvelope {
        try EncodedEnvelope(
            id: id, type: type, version: version, key: key, occurredAt: occurredAt, traceparent: traceparent,
            requestID: requestID, expiresAt: expiresAt, body: EventCoding.encode(body))
    }
}
