/// A field of a stream entry: a name, which is short because every hop and the append-only file repeat it, and any bytes.
public typealias StreamField = (name: String, value: [UInt8])

/// The fields of a stream entry, wherever they are stored: a driver may leave them in the reply of its server.
public protocol StreamFields: Sendable {
    /// The number of fields.
    var count: Int { get }

    /// Calls `body` with the bytes of each name and value from that field on, in their order; the bytes are valid during the call only.
    ///
    /// - Parameter start: At most ``count``.
    func read(from start: Int, _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void)
}

extension StreamFields {
    /// Calls `body` with the bytes of each name and value; see ``read(from:_:)``.
    public func read(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) { read(from: 0, body) }

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

    /// Creates a list of fields that keeps their order; names may repeat.
    public init(_ fields: [StreamField]) {
        self.fields = fields
    }

    /// The number of fields in the list.
    public var count: Int { fields.count }

    /// Passes each field from position `start` on to `body`; a `start` above ``count`` is a programming error and traps.
    public func read(from start: Int, _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        for field in fields[start...] {
            var name = field.name
            name.withUTF8 { name in field.value.withUnsafeBytes { body(UnsafeRawBufferPointer(name), $0) } }
        }
    }
}
