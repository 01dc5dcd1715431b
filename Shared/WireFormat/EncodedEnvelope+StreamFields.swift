import FoundationEssentials

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
    /// - Throws: ``WireFormatError`` with the first field that is repeated, malformed or over its limit, or else one that is missing.
    public init(streamFields fields: any StreamFields) throws(WireFormatError) {
        var decoder = EnvelopeDecoder()
        var fault: WireFormatError?
        fields.read { name, value in
            guard fault == nil else { return }
            do throws(WireFormatError) { try decoder.read(String(decoding: name, as: UTF8.self), value) } catch { fault = error }
        }
        if let fault { throw fault }
        self = try decoder.envelope()
    }

    /// Decodes a message from a list of fields; see ``init(streamFields:)-(StreamFields)``.
    public init(streamFields list: [StreamField]) throws(WireFormatError) {
        try self.init(streamFields: StreamFieldList(list))
    }
}
