import FoundationEssentials
internal import JSON

/// Decodes an envelope from the fields of a stream entry, which it reads one by one.
struct EnvelopeDecoder {
    private typealias Field = EncodedEnvelope.Field

    private var id: UUID?
    private var type, key, traceparent, requestID: String?
    private var version, occurredAt, expiresAt: Int64?
    private var body: [UInt8]?
    private var count = 0

    /// Decodes one field.
    mutating func read(_ name: String, _ value: UnsafeRawBufferPointer) throws(WireFormatError) {
        count += 1
        guard count <= EnvelopeLimits.maxFields else { throw Self.invalid(name, "is one of more than \(EnvelopeLimits.maxFields)") }
        switch name {
        case Field.id: try Self.set(&id, name, UUID(wireBytes: value), or: "is not a UUID")
        case Field.type: try Self.set(&type, name, value, maxBytes: EnvelopeLimits.maxTypeBytes)
        case Field.version: try Self.set(&version, name, Self.number(value, max: Int64(Int32.max)), or: "is not a number in range")
        case Field.key: try Self.set(&key, name, value, maxBytes: EnvelopeLimits.maxKeyBytes)
        case Field.occurredAt: try Self.set(&occurredAt, name, Self.number(value), or: "is not a number in range")
        case Field.traceparent: try Self.set(&traceparent, name, value, maxBytes: EnvelopeLimits.maxTraceparentBytes)
        case Field.requestID: try Self.set(&requestID, name, value, maxBytes: EnvelopeLimits.maxRequestIDBytes)
        case Field.expiresAt: try Self.set(&expiresAt, name, Self.number(value), or: "is not a number in range")
        case Field.body:
            try EnvelopeLimits.check(bodyBytes: value.count)
            try Self.set(&body, name, Array(value), or: "")
        default: break
        }
    }

    /// Returns the envelope, after the last field.
    func envelope() throws(WireFormatError) -> EncodedEnvelope {
        let occurredAt = try Self.require(occurredAt, Field.occurredAt)
        return try EncodedEnvelope(
            id: Self.require(id, Field.id), type: EventType(rawValue: Self.require(type, Field.type)),
            version: Int(Self.require(version, Field.version)), key: Self.require(key, Field.key),
            occurredAt: Date(millisecondsSince1970: occurredAt), traceparent: traceparent, requestID: requestID,
            expiresAt: expiresAt.map(Date.init(millisecondsSince1970:)), body: Self.require(body, Field.body))
    }

    private static func require<Value>(_ value: Value?, _ name: String) throws(WireFormatError) -> Value {
        guard let value else { throw WireFormatError(.missingField(name), "field \(name) is missing") }
        return value
    }

    private static func set<Value>(
        _ slot: inout Value?, _ name: String, _ value: Value?, or fault: String
    ) throws(WireFormatError) {
        guard slot == nil else { throw invalid(name, "is there twice") }
        guard let value else { throw invalid(name, fault) }
        slot = value
    }

    /// Decodes a text; its length is checked before anything is copied.
    private static func set(
        _ slot: inout String?, _ name: String, _ bytes: UnsafeRawBufferPointer, maxBytes: Int
    ) throws(WireFormatError) {
        guard bytes.count <= maxBytes else { throw invalid(name, "has \(bytes.count) bytes, allowed are 1 to \(maxBytes)") }
        try set(&slot, name, String(utf8Bytes: bytes), or: "is not UTF-8")
    }

    private static func invalid(_ name: String, _ fault: String) -> WireFormatError {
        WireFormatError(.invalidField(name), "field \(name) \(fault)")
    }

    /// Parses a decimal number without a sign, as this module writes it; nil when it is none, or over `max`.
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
