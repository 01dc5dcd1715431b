/// A value that can be bound to a query.
public protocol PostgresEncodable: Sendable {
    /// The server's type as which the value is sent.
    static var postgresType: PostgresType { get }

    /// Appends the binary form of the value, or no bytes for NULL.
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
    /// Whether an array with elements of the server's type `type` can be read as an array of these.
    static func acceptsElement(_ type: PostgresType) -> Bool
}

extension PostgresArrayElement {
    /// Accepts the type as which the value is sent.
    public static func acceptsElement(_ type: PostgresType) -> Bool { type == postgresType }
}

/// One column of one row: a type and, unless it is NULL, bytes.
///
/// A cell is valid only during the call of ``PostgresDecodable/init(postgres:)`` that receives it.
public struct PostgresCell {
    /// The type of the column.
    public let type: PostgresType
    @usableFromInline let storage: UnsafeRawBufferPointer?

    // The caller must keep the result that the bytes belong to alive while the cell is in use.
    init(type: PostgresType, bytes: UnsafeRawBufferPointer?) {
        self.type = type
        storage = bytes
    }

    /// Whether the cell is NULL.
    @inlinable public var isNull: Bool { storage == nil }

    /// The number of bytes; 0 for NULL.
    public var count: Int { storage?.count ?? 0 }

    /// A copy of the bytes; empty for NULL.
    public var bytes: [UInt8] { storage.map { [UInt8]($0) } ?? [] }

    /// Returns the bytes; throws when the cell is NULL or its type is not accepted.
    func required(as name: StaticString, _ isAccepted: Bool) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let storage else { throw .decoding("the column is NULL, but \(name) was requested") }
        guard isAccepted else { throw .decoding("a column of type \(type.rawValue) cannot be read as \(name)") }
        return storage
    }

    /// Decodes bytes as a big-endian integer of exactly their size.
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
    /// The type of the wrapped value.
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// Appends the wrapped value, if there is one.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        guard let self else { return false }
        return self.encodePostgres(into: &bytes)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads nil from NULL, else the wrapped value.
    @inlinable
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
    /// Reads the raw value; throws when no case has it.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        guard let value = Self(rawValue: try RawValue(postgres: cell)) else {
            throw .decoding("the column holds no value of \(Self.self)")
        }
        self = value
    }
}
