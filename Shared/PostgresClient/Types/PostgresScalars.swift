public import FoundationEssentials

extension FixedWidthInteger {
    func appendBigEndian(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension PostgresEncodable where Self: FixedWidthInteger {
    /// Appends the big-endian bytes.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        appendBigEndian(to: &bytes)
        return true
    }
}

extension Bool: PostgresArrayElement {
    /// Binds as `boolean`.
    public static var postgresType: PostgresType { .bool }
    /// Binds an array as `boolean[]`.
    public static var postgresArrayType: PostgresType { .boolArray }

    /// Appends one byte, 1 for true and 0 for false.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        bytes.append(self ? 1 : 0)
        return true
    }

    /// Reads `boolean`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "Bool", cell.type == .bool)
        self = try cell.integer(as: UInt8.self, bytes) != 0
    }
}

extension Int16: PostgresArrayElement {
    /// Binds as `smallint`.
    public static var postgresType: PostgresType { .int2 }
    /// Binds an array as `smallint[]`.
    public static var postgresArrayType: PostgresType { .int2Array }

    /// Reads `smallint`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        self = try cell.integer(as: Int16.self, cell.required(as: "Int16", cell.type == .int2))
    }
}

extension Int32: PostgresArrayElement {
    /// Binds as `integer`.
    public static var postgresType: PostgresType { .int4 }
    /// Binds an array as `integer[]`.
    public static var postgresArrayType: PostgresType { .int4Array }
    /// Accepts `integer` and `smallint`, whose values all fit.
    public static func acceptsElement(_ type: PostgresType) -> Bool { type == .int4 || type == .int2 }

    /// Reads `integer` or `smallint`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "Int32", Self.acceptsElement(cell.type))
        self = cell.type == .int2 ? Int32(try cell.integer(as: Int16.self, bytes)) : try cell.integer(as: Int32.self, bytes)
    }
}

extension Int64: PostgresArrayElement {
    /// Binds as `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// Binds an array as `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }
    /// Accepts `bigint`, `integer`, `smallint` and `oid`, whose values all fit.
    public static func acceptsElement(_ type: PostgresType) -> Bool {
        type == .int8 || type == .int4 || type == .int2 || type == .oid
    }

    /// Reads `bigint`, `integer`, `smallint` or `oid`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "Int64", Self.acceptsElement(cell.type))
        switch cell.type {
        case .int2: self = Int64(try cell.integer(as: Int16.self, bytes))
        case .int4: self = Int64(try cell.integer(as: Int32.self, bytes))
        case .oid: self = Int64(try cell.integer(as: UInt32.self, bytes))
        default: self = try cell.integer(as: Int64.self, bytes)
        }
    }
}

extension Int: PostgresArrayElement {
    /// Binds as `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// Binds an array as `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }
    /// Accepts the types that `Int64` accepts: `bigint`, `integer`, `smallint` and `oid`.
    public static func acceptsElement(_ type: PostgresType) -> Bool { Int64.acceptsElement(type) }

    /// Reads `bigint`, `integer`, `smallint` or `oid`.
    public init(postgres cell: PostgresCell) throws(PostgresError) { self = Int(try Int64(postgres: cell)) }
}

extension Double: PostgresArrayElement {
    /// Binds as `double precision`.
    public static var postgresType: PostgresType { .float8 }
    /// Binds an array as `double precision[]`.
    public static var postgresArrayType: PostgresType { .float8Array }
    /// Accepts `double precision` and `real`, whose values all fit.
    public static func acceptsElement(_ type: PostgresType) -> Bool { type == .float8 || type == .float4 }

    /// Appends the eight bytes of the IEEE 754 form, the highest first.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        bitPattern.appendBigEndian(to: &bytes)
        return true
    }

    /// Reads `double precision` or `real`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "Double", Self.acceptsElement(cell.type))
        self =
            cell.type == .float4
            ? Double(Float(bitPattern: try cell.integer(as: UInt32.self, bytes)))
            : Double(bitPattern: try cell.integer(as: UInt64.self, bytes))
    }
}

extension Float: PostgresArrayElement {
    /// Binds as `real`.
    public static var postgresType: PostgresType { .float4 }
    /// Binds an array as `real[]`.
    public static var postgresArrayType: PostgresType { .float4Array }

    /// Appends the four bytes of the IEEE 754 form, the highest first.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        bitPattern.appendBigEndian(to: &bytes)
        return true
    }

    /// Reads `real`; not `double precision`, which would lose digits.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        self = Float(bitPattern: try cell.integer(as: UInt32.self, cell.required(as: "Float", cell.type == .float4)))
    }
}

extension String: PostgresArrayElement {
    /// Binds as `text`.
    public static var postgresType: PostgresType { .text }
    /// Binds an array as `text[]`.
    public static var postgresArrayType: PostgresType { .textArray }
    /// Accepts every textual type, `json`, `jsonb` and enumerations.
    public static func acceptsElement(_ type: PostgresType) -> Bool { type.isTextual || type == .jsonb }

    /// Appends the text in UTF-8.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: utf8)
        return true
    }

    /// Reads every textual type, `json`, `jsonb` and enumerations.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        var bytes = try cell.required(as: "String", Self.acceptsElement(cell.type))
        if cell.type == .jsonb {
            // The binary form of jsonb is a version byte, which has always been 1, and then the text.
            guard bytes.first == 1 else { throw .decoding("a jsonb of an unknown version") }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        }
        self = String(decoding: bytes, as: UTF8.self)
    }
}

extension UUID: PostgresArrayElement {
    /// Binds as `uuid`.
    public static var postgresType: PostgresType { .uuid }
    /// Binds an array as `uuid[]`.
    public static var postgresArrayType: PostgresType { .uuidArray }

    /// Appends the 16 bytes of the id.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) }
        return true
    }

    /// Reads `uuid`.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "UUID", cell.type == .uuid)
        guard bytes.count == 16 else { throw .decoding("\(bytes.count) bytes where a UUID was expected") }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}

extension Date: PostgresArrayElement {
    /// Seconds from 2000-01-01, the server's epoch, to 2001-01-01, Foundation's reference date.
    private static let epochDifference = 31_622_400.0

    /// Binds as `timestamp with time zone`.
    public static var postgresType: PostgresType { .timestamptz }
    /// Binds an array as `timestamp with time zone[]`.
    public static var postgresArrayType: PostgresType { .timestamptzArray }
    /// Accepts `timestamp with time zone`, and `timestamp`, which is read as UTC.
    public static func acceptsElement(_ type: PostgresType) -> Bool { type == .timestamptz || type == .timestamp }

    /// Appends microseconds since 2000-01-01; dates out of range become the infinities.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        let microseconds = ((timeIntervalSinceReferenceDate + Self.epochDifference) * 1_000_000).rounded()
        let value = Int64(exactly: microseconds) ?? (microseconds > 0 ? Int64.max : Int64.min)
        value.appendBigEndian(to: &bytes)
        return true
    }

    /// Reads `timestamp with time zone`, or `timestamp` as UTC; infinity becomes the distant past or future.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.required(as: "Date", Self.acceptsElement(cell.type))
        switch try cell.integer(as: Int64.self, bytes) {
        case .max: self = .distantFuture
        case .min: self = .distantPast
        case let microseconds:
            self.init(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000 - Self.epochDifference)
        }
    }
}
