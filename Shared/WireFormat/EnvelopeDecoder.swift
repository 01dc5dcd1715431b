import FoundationEssentials
internal import JSON

/// Decodes an envelope from the fields of a stream entry, which it reads one by one.
struct EnvelopeDecoder: ~Copyable {
    fileprivate typealias Field = EncodedEnvelope.Field

    fileprivate var id: UUID?
    fileprivate var type, key, traceparent, requestID: String?
    fileprivate var version, occurredAt, expiresAt: Int64?
    fileprivate var body: [UInt8]?
    private var count = 0

    /// Decodes one field.
    mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(WireFormatError) {
        count += 1
        guard count <= EnvelopeLimits.maxFields else {
            let name = String(decoding: name, as: UTF8.self)
            throw WireFormatError(.invalidField(name), "field \(name) is one of more than \(EnvelopeLimits.maxFields)")
        }
        guard let field = Field(name: name) else { return }
        switch field {
        case .id: try Self.set(&id, field, UUID(wireBytes: value), or: "is not a UUID")
        case .type: try Self.set(&type, field, value, maxBytes: EnvelopeLimits.maxTypeBytes)
        case .version: try Self.set(&version, field, Self.number(value, max: Int64(Int32.max)), or: "is not a number in range")
        case .key: try Self.set(&key, field, value, maxBytes: EnvelopeLimits.maxKeyBytes)
        case .occurredAt: try Self.set(&occurredAt, field, Self.number(value), or: "is not a number in range")
        case .traceparent: try Self.set(&traceparent, field, value, maxBytes: EnvelopeLimits.maxTraceparentBytes)
        case .requestID: try Self.set(&requestID, field, value, maxBytes: EnvelopeLimits.maxRequestIDBytes)
        case .expiresAt: try Self.set(&expiresAt, field, Self.number(value), or: "is not a number in range")
        case .body:
            try EnvelopeLimits.check(bodyBytes: value.count)
            try Self.set(&body, field, Array(value), or: "")
        }
    }

    fileprivate static func require<Value>(_ value: consuming Value?, _ field: Field) throws(WireFormatError) -> Value {
        guard let value else { throw WireFormatError(.missingField(field.name), "field \(field.name) is missing") }
        return value
    }

    private static func set<Value>(
        _ slot: inout Value?, _ field: Field, _ value: Value?, or fault: String
    ) throws(WireFormatError) {
        guard slot == nil else { throw invalid(field, "is there twice") }
        guard let value else { throw invalid(field, fault) }
        slot = value
    }

    /// Decodes a text; its length is checked before anything is copied.
    private static func set(
        _ slot: inout String?, _ field: Field, _ bytes: UnsafeRawBufferPointer, maxBytes: Int
    ) throws(WireFormatError) {
        guard bytes.count <= maxBytes else { throw invalid(field, "has \(bytes.count) bytes, allowed are 1 to \(maxBytes)") }
        try set(&slot, field, String(utf8Bytes: bytes), or: "is not UTF-8")
    }

    private static func invalid(_ field: Field, _ fault: String) -> WireFormatError {
        WireFormatError(.invalidField(field.name), "field \(field.name) \(fault)")
    }

    /// Parses a decimal number without a sign, as this module writes it; nil when it is not a number, or over `max`.
    private static func number(_ bytes: UnsafeRawBufferPointer, max: Int64 = Date.maxWireMilliseconds) -> Int64? {
        guard (1...15).contains(bytes.count) else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value <= max ? value : nil
    }
}

extension EncodedEnvelope {
    /// Makes the envelope of all fields that a decoder has read.
    convenience init(_ fields: consuming EnvelopeDecoder) throws(WireFormatError) {
        typealias Decoder = EnvelopeDecoder
        let occurredAt = try Decoder.require(fields.occurredAt, .occurredAt)
        // The parts are moved: a copy would count a reference, here and when the decoder is destroyed.
        try self.init(
            id: Decoder.require(fields.id, .id), type: EventType(rawValue: Decoder.require(fields.type.take(), .type)),
            version: Int(Decoder.require(fields.version, .version)), key: Decoder.require(fields.key.take(), .key),
            occurredAt: Date(millisecondsSince1970: occurredAt), traceparent: fields.traceparent.take(), requestID: fields.requestID.take(),
            expiresAt: fields.expiresAt.map(Date.init(millisecondsSince1970:)), body: Decoder.require(fields.body.take(), .body))
    }
}
