import FoundationEssentials
internal import JSON

extension EncodedEnvelope {
    /// The fields of a stream entry.
    public enum Field: Sendable, CaseIterable {
        case id, type, version, key
        /// Milliseconds since 1970.
        case occurredAt
        case traceparent, requestID
        /// Milliseconds since 1970.
        case expiresAt
        case body

        /// The name of the field, as text.
        public var name: String { wireName.description }

        /// The name of the field.
        fileprivate var wireName: StaticString {
            switch self {
            case .id: "i"
            case .type: "t"
            case .version: "v"
            case .key: "k"
            case .occurredAt: "c"
            case .traceparent: "tp"
            case .requestID: "r"
            case .expiresAt: "x"
            case .body: "b"
            }
        }

        /// Finds the field of a name by its bytes, without making a string; nil when the name is unknown.
        init?(name: UnsafeRawBufferPointer) {
            switch (name.count, name.first) {
            case (1, UInt8(ascii: "i")): self = .id
            case (1, UInt8(ascii: "t")): self = .type
            case (1, UInt8(ascii: "v")): self = .version
            case (1, UInt8(ascii: "k")): self = .key
            case (1, UInt8(ascii: "c")): self = .occurredAt
            case (2, UInt8(ascii: "t")) where name[1] == UInt8(ascii: "p"): self = .traceparent
            case (1, UInt8(ascii: "r")): self = .requestID
            case (1, UInt8(ascii: "x")): self = .expiresAt
            case (1, UInt8(ascii: "b")): self = .body
            default: return nil
            }
        }
    }

    /// The number of fields of a stream entry.
    public var fieldCount: Int { 6 + (traceparent == nil ? 0 : 1) + (requestID == nil ? 0 : 1) + (expiresAt == nil ? 0 : 1) }

    /// Calls `body` with the name and the value of each field of a stream entry, always in the same order; absent optional parts are left
    /// out. The bytes of both are valid during the call only.
    public func forEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        func append(_ field: Field, _ value: UnsafeRawBufferPointer) {
            field.wireName.withUTF8Buffer { body(UnsafeRawBufferPointer($0), value) }
        }
        id.withWireText { append(.id, $0) }
        type.rawValue.withBytes { append(.type, $0) }
        String(version).withBytes { append(.version, $0) }
        key.withBytes { append(.key, $0) }
        String(occurredAt.millisecondsSince1970).withBytes { append(.occurredAt, $0) }
        traceparent?.withBytes { append(.traceparent, $0) }
        requestID?.withBytes { append(.requestID, $0) }
        if let expiresAt { String(expiresAt.millisecondsSince1970).withBytes { append(.expiresAt, $0) } }
        self.body.withUnsafeBytes { append(.body, $0) }
    }

    /// The message as fields of a stream entry, in the order of ``forEachField(_:)``.
    public var streamFields: [StreamField] {
        var fields: [StreamField] = []
        fields.reserveCapacity(fieldCount)
        forEachField { name, value in fields.append((String(decoding: name, as: UTF8.self), Array(value))) }
        return fields
    }

    /// Decodes a message from the fields of a stream entry; fields with unknown names are ignored.
    ///
    /// - Throws: ``WireFormatError`` with the first field that is repeated, malformed or over its limit, or else with a missing field.
    public convenience init(streamFields fields: any StreamFields) throws(WireFormatError) {
        var decoder = EnvelopeDecoder()
        var fault: WireFormatError?
        fields.read { name, value in
            guard fault == nil else { return }
            do throws(WireFormatError) { try decoder.read(name, value) } catch { fault = error }
        }
        if let fault { throw fault }
        try self.init(decoder)
    }

    /// Decodes a message from a list of fields; see ``init(streamFields:)-(StreamFields)``.
    public convenience init(streamFields list: [StreamField]) throws(WireFormatError) {
        try self.init(streamFields: StreamFieldList(list))
    }
}
