public import FoundationEssentials

/// A typed message: an event with its delivery metadata.
public struct Envelope<Body: Event>: Sendable, Equatable {
    /// The id of the message, a UUID of version 7. A message that is published again keeps it, so it is the key for deduplication.
    public let id: UUID
    /// Time of the event, to the millisecond.
    public let occurredAt: Date
    /// The W3C trace parent of the work that caused the event.
    public let traceparent: String?
    /// The id of the HTTP request that caused the event.
    public let requestID: String?
    /// Time after which the event need not be handled, to the millisecond.
    public let expiresAt: Date?
    /// The version of the schema that the body was written in.
    public let version: Int
    /// The event.
    public let body: Body

    /// The name of the body's kind of event, the same for every envelope of this type.
    public var type: EventType { Body.type }
    /// The id of the event's subject, at most ``EnvelopeLimits/maxKeyBytes`` bytes; events of one key are published in order.
    public var key: String { body.key }
    /// The stream that carries this message.
    public var stream: String { body.stream }

    /// Wraps a body; times are rounded to the millisecond, the precision of the wire format.
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

    /// Encodes the body as JSON.
    ///
    /// - Throws: ``WireFormatError`` when the body or a field of the envelope is over its limit.
    public func encoded() throws(WireFormatError) -> EncodedEnvelope {
        try EncodedEnvelope(
            id: id, type: type, version: version, key: key, occurredAt: occurredAt, traceparent: traceparent,
            requestID: requestID, expiresAt: expiresAt, body: EventCoding.encode(body))
    }
}
