import FoundationEssentials

/// A field of a stream entry: a name, which is short because every hop and the append-only file repeat it, and any bytes.
public typealias StreamField = (name: String, value: [UInt8])

extension EncodedEnvelope {
    /// The names of the fields of a stream entry.
    public enum Field {
        public static let id = "i"
        public static let type = "t"
        public static let version = "v"
        public static let key = "k"
        /// Milliseconds since 1970.
        public static let occurredAt = "c"
        public static let traceparent = "tp"
        public static let requestID = "r"
        /// Milliseconds since 1970.
        public static let expiresAt = "x"
        public static let body = "b"
    }

    /// The message as fields of a stream entry, always in the same order; absent optional parts are left out.
    public var streamFields: [StreamField] {
        var fields: [StreamField] = []
        fields.reserveCapacity(9)
        fields.append((Field.id, Array(id.wireString.utf8)))
        fields.append((Field.type, Array(type.rawValue.utf8)))
        fields.append((Field.version, Array(String(version).utf8)))
        fields.append((Field.key, Array(key.utf8)))
        fields.append((Field.occurredAt, Array(String(occurredAt.millisecondsSince1970).utf8)))
        if let traceparent { fields.append((Field.traceparent, Array(traceparent.utf8))) }
        if let requestID { fields.append((Field.requestID, Array(requestID.utf8))) }
        if let expiresAt { fields.append((Field.expiresAt, Array(String(expiresAt.millisecondsSince1970).utf8))) }
        fields.append((Field.body, body))
        return fields
    }

    /// Decodes a message from the fields of a stream entry; fields with unknown names are ignored.
    ///
    /// - Throws: ``WireFormatError`` with the first field that is missing, repeated, malformed or over its limit.
    public init(streamFields: [StreamField]) throws(WireFormatError) {
        var raw = RawFields()
        var count = 0
        for field in streamFields {
            count += 1
            guard count <= EnvelopeLimits.maxFields else {
                throw WireFormatError(.invalidField(field.name), "there are more than \(EnvelopeLimits.maxFields) fields")
            }
            try raw.set(field)
        }
        guard let id = raw.id else { throw WireFormatError(.missingField(Field.id), "field i is missing") }
        guard let uuid = UUID(wireBytes: id) else {
            throw WireFormatError(.invalidField(Field.id), "field i is not a UUID")
        }
        guard let body = raw.body else { throw WireFormatError(.missingField(Field.body), "field b is missing") }
        try self.init(
            id: uuid,
            type: EventType(rawValue: raw.text(Field.type, raw.type)),
            version: Int(raw.number(Field.version, raw.version, max: Int64(Int32.max))),
            key: raw.text(Field.key, raw.key),
            occurredAt: Date(millisecondsSince1970: raw.number(Field.occurredAt, raw.occurredAt)),
            traceparent: raw.traceparent == nil ? nil : raw.text(Field.traceparent, raw.traceparent),
            requestID: raw.requestID == nil ? nil : raw.text(Field.requestID, raw.requestID),
            expiresAt: raw.expiresAt == nil
                ? nil : Date(millisecondsSince1970: raw.number(Field.expiresAt, raw.expiresAt)),
            body: body)
    }
}

extension Envelope {
    /// Decodes a message of this type from the fields of a stream entry; the same as by way of an ``EncodedEnvelope``, without the parts
    /// of it that an envelope does not keep.
    ///
    /// - Throws: ``WireFormatError`` with the first field that is not valid, or when the message is of another type or of a newer version.
    public init(streamFields: [StreamField]) throws(WireFormatError) {
        guard let envelope = try Self.decodeValid(streamFields) else {
            // Names what is wrong with it.
            self = try EncodedEnvelope(streamFields: streamFields).decode()
            return
        }
        self = envelope
    }

    /// Decodes a message; nil when something about its envelope is not valid.
    private static func decodeValid(_ fields: [StreamField]) throws(WireFormatError) -> Envelope? {
        guard fields.count <= EnvelopeLimits.maxFields else { return nil }
        var raw = RawFields()
        for field in fields { try raw.set(field) }
        guard let id = raw.id, let id = UUID(wireBytes: id), let type = raw.type, type.elementsEqual(Body.type.rawValue.utf8),
            let key = raw.key, 1...EnvelopeLimits.maxKeyBytes ~= key.count, key.allSatisfy({ $0 < 0x80 }),
            let body = raw.body, body.count <= EnvelopeLimits.maxBodyBytes,
            1...EnvelopeLimits.maxTraceparentBytes ~= raw.traceparent?.count ?? 1,
            1...EnvelopeLimits.maxRequestIDBytes ~= raw.requestID?.count ?? 1
        else { return nil }
        let version = try raw.number(EncodedEnvelope.Field.version, raw.version, max: Int64(Int32.max))
        guard version >= 1, version <= Body.version else { return nil }
        let occurredAt = try raw.number(EncodedEnvelope.Field.occurredAt, raw.occurredAt)
        let expiresAt = raw.expiresAt == nil ? nil : try raw.number(EncodedEnvelope.Field.expiresAt, raw.expiresAt)
        return try Envelope(
            EventCoding.decode(Body.self, from: body), id: id, version: Int(version),
            occurredAt: Date(millisecondsSince1970: occurredAt),
            traceparent: raw.traceparent == nil ? nil : raw.text(EncodedEnvelope.Field.traceparent, raw.traceparent),
            requestID: raw.requestID == nil ? nil : raw.text(EncodedEnvelope.Field.requestID, raw.requestID),
            expiresAt: expiresAt.map(Date.init(millisecondsSince1970:)))
    }
}

/// The fields of an entry by name, before they are decoded.
private struct RawFields {
    var id, type, version, key, occurredAt, traceparent, requestID, expiresAt, body: [UInt8]?

    mutating func set(_ field: StreamField) throws(WireFormatError) {
        switch field.name {
        case EncodedEnvelope.Field.id: try Self.set(&id, field)
        case EncodedEnvelope.Field.type: try Self.set(&type, field)
        case EncodedEnvelope.Field.version: try Self.set(&version, field)
        case EncodedEnvelope.Field.key: try Self.set(&key, field)
        case EncodedEnvelope.Field.occurredAt: try Self.set(&occurredAt, field)
        case EncodedEnvelope.Field.traceparent: try Self.set(&traceparent, field)
        case EncodedEnvelope.Field.requestID: try Self.set(&requestID, field)
        case EncodedEnvelope.Field.expiresAt: try Self.set(&expiresAt, field)
        case EncodedEnvelope.Field.body: try Self.set(&body, field)
        default: break
        }
    }

    private static func set(_ slot: inout [UInt8]?, _ field: StreamField) throws(WireFormatError) {
        guard slot == nil else {
            throw WireFormatError(.invalidField(field.name), "field \(field.name) is there twice")
        }
        slot = field.value
    }

    func text(_ name: String, _ bytes: [UInt8]?) throws(WireFormatError) -> String {
        guard let bytes else { throw WireFormatError(.missingField(name), "field \(name) is missing") }
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes.span))
        } catch {
            throw WireFormatError(.invalidField(name), "field \(name) is not UTF-8")
        }
    }

    /// Parses a decimal number without a sign, as this module writes it.
    func number(
        _ name: String, _ bytes: [UInt8]?, max: Int64 = Date.maxWireMilliseconds
    ) throws(WireFormatError) -> Int64 {
        guard let bytes else { throw WireFormatError(.missingField(name), "field \(name) is missing") }
        var value: Int64 = 0
        guard (1...15).contains(bytes.count) else {
            throw WireFormatError(.invalidField(name), "field \(name) is not a number in range")
        }
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
                throw WireFormatError(.invalidField(name), "field \(name) is not a number")
            }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        guard value <= max else {
            throw WireFormatError(.invalidField(name), "field \(name) is not a number in range")
        }
        return value
    }
}
