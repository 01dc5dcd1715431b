public import FoundationEssentials

/// A message with an encoded body, as the outbox stores it and the stream carries it.
///
/// A class, because it is passed on several times on its way, and each copy of a struct would count the references to five of its parts.
public final class EncodedEnvelope: Sendable {
    /// The id of the message, a UUID of version 7, by which duplicates are skipped; republishing keeps it.
    public let id: UUID
    /// The name of the kind of event; this build may not know it.
    public let type: EventType
    /// The version of the schema that the body was written in, at least 1.
    public let version: Int
    /// The id of the event's subject, at most ``EnvelopeLimits/maxKeyBytes`` bytes; events of one key are published in order.
    public let key: String
    /// Time of the event, rounded to the millisecond.
    public let occurredAt: Date
    /// The W3C trace parent of the work that caused the event, at most ``EnvelopeLimits/maxTraceparentBytes`` bytes.
    public let traceparent: String?
    /// The id of the HTTP request that caused the event, at most ``EnvelopeLimits/maxRequestIDBytes`` bytes.
    public let requestID: String?
    /// Time after which the event need not be handled, rounded to the millisecond; nil when it does not expire.
    public let expiresAt: Date?
    /// The body as JSON in UTF-8, at most ``EnvelopeLimits/maxBodyBytes`` bytes.
    public let body: [UInt8]

    /// Creates an envelope from its parts, for instance from a row of the outbox.
    ///
    /// - Throws: ``WireFormatError`` when a part is over its limit.
    public init(
        id: UUID, type: EventType, version: Int, key: String, occurredAt: Date, traceparent: String? = nil,
        requestID: String? = nil, expiresAt: Date? = nil, body: [UInt8]
    ) throws(WireFormatError) {
        try EnvelopeLimits.check("t", type.rawValue, maxBytes: EnvelopeLimits.maxTypeBytes)
        try EnvelopeLimits.check("k", key, maxBytes: EnvelopeLimits.maxKeyBytes)
        if let traceparent { try EnvelopeLimits.check("tp", traceparent, maxBytes: EnvelopeLimits.maxTraceparentBytes) }
        if let requestID { try EnvelopeLimits.check("r", requestID, maxBytes: EnvelopeLimits.maxRequestIDBytes) }
        guard version >= 1 else { throw WireFormatError(.invalidField("v"), "field v is below 1") }
        try EnvelopeLimits.check(bodyBytes: body.count)
        self.id = id
        self.type = type
        self.version = version
        self.key = key
        self.occurredAt = occurredAt.roundedToMilliseconds
        self.traceparent = traceparent
        self.requestID = requestID
        self.expiresAt = expiresAt?.roundedToMilliseconds
        self.body = body
    }

    /// Returns the message with another trace parent.
    public func traced(by traceparent: String?) -> EncodedEnvelope {
        traceparent == self.traceparent ? self : EncodedEnvelope(self, traceparent: traceparent)
    }

    private init(_ message: EncodedEnvelope, traceparent: String?) {
        id = message.id
        type = message.type
        version = message.version
        key = message.key
        occurredAt = message.occurredAt
        self.traceparent = traceparent
        requestID = message.requestID
        expiresAt = message.expiresAt
        body = message.body
    }

    /// Decodes the body as an event of the given type; unknown fields are ignored.
    ///
    /// - Throws: ``WireFormatError`` when the message is of another type or of a newer version, or the body is malformed.
    public func decode<Body: Event>(_ type: Body.Type = Body.self) throws(WireFormatError) -> Envelope<Body> {
        guard self.type == Body.type else {
            throw WireFormatError(.typeMismatch, "the message is a \(self.type), not a \(Body.type)")
        }
        guard version <= Body.version else {
            throw WireFormatError(
                .unsupportedVersion, "\(Body.type) has version \(version), this build knows up to \(Body.version)")
        }
        return Envelope(
            try EventCoding.decode(Body.self, from: body), id: id, version: version, occurredAt: occurredAt,
            traceparent: traceparent, requestID: requestID, expiresAt: expiresAt)
    }
}

extension EncodedEnvelope: Equatable {
    /// Compares all parts; bodies are equal only if their bytes are.
    public static func == (one: EncodedEnvelope, other: EncodedEnvelope) -> Bool {
        one.id == other.id && one.type == other.type && one.version == other.version && one.key == other.key
            && one.occurredAt == other.occurredAt && one.traceparent == other.traceparent && one.requestID == other.requestID
            && one.expiresAt == other.expiresAt && one.body == other.body
    }
}
