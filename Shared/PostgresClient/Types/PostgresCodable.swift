/// A value that can be bound to a query.
public protocol PostgresEncodable: Sendable {
    /// The server's type the value is sent as.
    static var postgresType: PostgresType { get }

    /// Appends the binary form of the value, or nothing.
    ///
    /// - Returns: false when the value is NULL.
    func encodePostgres(into bytes: inout [UInt8]) -> Bool
}

/// A value that can be read from a column.
public protocol PostgresDecodable: Sendable {
    /// Reads the value from a cell.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when the cell is NULL or of another type.
    init(postgres cell: PostgresCell) throws(PostgresError)
}

/// A value that can be bound and read.
public typealias PostgresCodable = PostgresEncodable & PostgresDecodable

/// A value that can be an element of a bound or read array.
public protocol PostgresArrayElement: PostgresCodable {
    /// The server's type of an array of these.
    static var postgresArrayType: PostgresType { get }
    /// The server's types that an array's elements may have to be read as this.
    static func acceptsElement(_ type: PostgresType) -> Bool
}

/// One column of one row: a type and, unless it is NULL, bytes.
///
/// A cell is only handed to ``PostgresDecodable/init(postgres:)`` and is of no use after that call.
public struct PostgresCell {
    /// The type of the column.
    public let type: PostgresType
    private let storage: UnsafeRawBufferPointer?

    // Whoever makes a cell holds the result it points into for the whole call.
    init(type: PostgresType, bytes: UnsafeRawBufferPointer?) {
        self.type = type
        storage = bytes
    }

    /// Whether the cell is NULL.
    public var isNull: Bool { storage == nil }

    /// The number of bytes; 0 for NULL.
    public var count: Int { storage?.count ?? 0 }

    /// A copy of the bytes; empty for NULL.
    public var bytes: [UInt8] { storage.map { [UInt8]($0) } ?? [] }

    /// The bytes of a cell that must not be NULL and must have one of the given types.
    func required(as name: StaticString, _ isAccepted: Bool) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let storage else { throw .decoding("the column is NULL, but \(name) was asked for") }
        guard isAccepted else { throw .decoding("a column of type \(type.rawValue) cannot be read as \(name)") }
        return storage
    }

    /// The bytes as a big-endian integer of exactly its size.
    func integer<Value: FixedWidthInteger>(
        as type: Value.Type, _ bytes: UnsafeRawBufferPointer
    ) throws(PostgresError) -> Value {
        guard bytes.count == MemoryLayout<Value>.size else {
            throw .decoding("\(bytes.count) bytes where \(MemoryLayout<Value>.size) were expected")
        }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The type of the value inside.
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// Appends the value inside, if there is one.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        guard let self else { return false }
        return self.encodePostgres(into: &bytes)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads nil from NULL, and the value inside from everything else.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        self = cell.isNull ? nil : try Wrapped(postgres: cell)
    }
}

extension PostgresEncodable where Self: RawRepresentable, RawValue: PostgresEncodable {
    /// The type of the raw value.
    public static var postgresType: PostgresType { RawValue.postgresType }

    /// Appends the raw value.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool { rawValue.encodePostgres(into: &bytes) }
}

extension PostgresDecodable where Self: RawRepresentable, RawValue: PostgresDecodable {
    /// Reads the raw value, and refuses one that is not a case.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        guard let value = Self(rawValue: try RawValue(postgres: cell)) else {
            throw .decoding("the column holds no value of \(Self.self)")
        }
        self = value
    }
}
