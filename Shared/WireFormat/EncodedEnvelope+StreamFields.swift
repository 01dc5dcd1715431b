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

    /// A value of a field, before it is written.
    public enum FieldValue {
        case text(String)
        case number(Int64)
        case bytes([UInt8])
    }

    /// The number of fields of a stream entry.
    public var fieldCount: Int { 6 + (traceparent == nil ? 0 : 1) + (requestID == nil ? 0 : 1) + (expiresAt == nil ? 0 : 1) }

    /// Calls `body` with each field of a stream entry, always in the same order; absent optional parts are left out.
    public func forEachField(_ body: (_ name: String, _ value: FieldValue) -> Void) {
        body(Field.id, .text(id.wireString))
        body(Field.type, .text(type.rawValue))
        body(Field.version, .number(Int64(version)))
        body(Field.key, .text(key))
        body(Field.occurredAt, .number(occurredAt.millisecondsSince1970))
        if let traceparent { body(Field.traceparent, .text(traceparent)) }
        if let requestID { body(Field.requestID, .text(requestID)) }
        if let expiresAt { body(Field.expiresAt, .number(expiresAt.millisecondsSince1970)) }
        body(Field.body, .bytes(self.body))
    }

    /// The message as fields of a stream entry, in the order of ``forEachField(_:)``.
    public var streamFields: [StreamField] {
        var fields: [StreamField] = []
        fields.reserveCapacity(fieldCount)
        forEachField { name, value in
            switch value {
            case .text(let text): fields.append((name, Array(text.utf8)))
            case .number(let number): fields.append((name, Array(String(number).utf8)))
            case .bytes(let bytes): fields.append((name, bytes))
            }
        }
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
