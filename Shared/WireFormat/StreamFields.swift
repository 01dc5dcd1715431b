/// A field of a stream entry: a name, which is short because every hop and the append-only file repeat it, and any bytes.
public typealias StreamField = (name: String, value: [UInt8])

/// The fields of a stream entry, wherever they are stored: a driver may leave them in the reply of its server.
public protocol StreamFields: Sendable {
    /// Calls `body` with the bytes of each name and value, in their order; the bytes are valid during the call only.
    func read(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void)
}

extension StreamFields {
    /// The fields as a list.
    public var list: [StreamField] {
        var list: [StreamField] = []
        read { name, value in list.append((String(decoding: name, as: UTF8.self), Array(value))) }
        return list
    }
}

/// A list of fields.
public struct StreamFieldList: StreamFields {
    private let fields: [StreamField]

    public init(_ fields: [StreamField]) {
        self.fields = fields
    }

    public func read(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        for field in fields {
            var name = field.name
            name.withUTF8 { name in field.value.withUnsafeBytes { body(UnsafeRawBufferPointer(name), $0) } }
        }
    }
}
