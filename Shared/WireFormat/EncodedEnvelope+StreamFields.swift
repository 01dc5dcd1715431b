public import FoundationEssentials

extension EncodedEnvelope {
    /// The fields of a stream entry, with their names.
    public enum Field: String, Sendable, CaseIterable {
        case id = "i"
        case type = "t"
        case version = "v"
        case key = "k"
        /// Milliseconds since 1970.
        case occurredAt = "c"
        case traceparent = "tp"
        case requestID = "r"
        /// Milliseconds since 1970.
        case expiresAt = "x"
        case body = "b"

        /// Finds the field of a name by its bytes, so that no text is made of it; nil when it is unknown.
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

    /// A value of a field, before it is written.
    public enum FieldValue {
        case id(UUID)
        case text(String)
        case number(Int64)
        case bytes([UInt8])
    }

    /// The number of fields of a stream entry.
    public var fieldCount: Int { 6 + (traceparent == nil ? 0 : 1) + (requestID == nil ? 0 : 1) + (expiresAt == nil ? 0 : 1) }

    /// Calls `body` with each field of a stream entry, always in the same order; absent optional parts are left out.
    public func forEachField(_ body: (_ field: Field, _ value: FieldValue) -> Void) {
        body(.id, .id(id))
        body(.type, .text(type.rawValue))
        body(.version, .number(Int64(version)))
        body(.key, .text(key))
        body(.occurredAt, .number(occurredAt.millisecondsSince1970))
        if let traceparent { body(.traceparent, .text(traceparent)) }
        if let requestID { body(.requestID, .text(requestID)) }
        if let expiresAt { body(.expiresAt, .number(expiresAt.millisecondsSince1970)) }
        body(.body, .bytes(self.body))
    }

    /// The message as fields of a stream entry, in the order of ``forEachField(_:)``.
    public var streamFields: [StreamField] {
        var fields: [StreamField] = []
        fields.reserveCapacity(fieldCount)
        forEachField { field, value in
            switch value {
            case .id(let id): fields.append((field.rawValue, Array(id.wireString.utf8)))
            case .text(let text): fields.append((field.rawValue, Array(text.utf8)))
            case .number(let number): fields.append((field.rawValue, Array(String(number).utf8)))
            case .bytes(let bytes): fields.append((field.rawValue, bytes))
            }
        }
        return fields
    }

    /// Decodes a message from the fields of a stream entry; fields with unknown names are ignored.
    ///
    /// - Throws: ``WireFormatError`` with the first field that is repeated, malformed or over its limit, or else one that is missing.
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
