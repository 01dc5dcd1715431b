// [UInt8] is bytea, and every other array is an array. Array can conform only once, so the element decides.

extension UInt8: PostgresArrayElement {
    /// `smallint`, because the server has no type for a single byte.
    public static var postgresType: PostgresType { .int2 }
    /// An array of bytes is a `bytea`.
    public static var postgresArrayType: PostgresType { .bytea }

    /// Appends the two bytes of a `smallint`; an array of bytes is a `bytea` and does not call this.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool { Int16(self).encodePostgres(into: &bytes) }

    /// Reads `smallint`.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` also when the number is not from 0 to 255.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        guard let value = UInt8(exactly: try Int16(postgres: cell)) else { throw .decoding("not a byte") }
        self = value
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
    /// The array type of the wrapped type.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
    /// Accepts the types of the wrapped type.
    public static func acceptsElement(_ type: PostgresType) -> Bool { Wrapped.acceptsElement(type) }
}

extension Array: PostgresArrayElement where Element == UInt8 {
    /// An array of `bytea`.
    public static var postgresArrayType: PostgresType { .byteaArray }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    /// `bytea` for bytes, else the array type of the element.
    public static var postgresType: PostgresType { Element.postgresArrayType }

    /// Appends the bytes, or a one-dimensional array with its elements.
    public func encodePostgres(into bytes: inout [UInt8]) -> Bool {
        // A type comparison and not a cast: an empty array of any element can be cast to [UInt8].
        if Element.self == UInt8.self {
            withUnsafeBytes { bytes.append(contentsOf: $0) }
            return true
        }
        let dimensions: Int32 = isEmpty ? 0 : 1
        dimensions.appendBigEndian(to: &bytes)
        let flagsOffset = bytes.count
        Int32(0).appendBigEndian(to: &bytes)
        Element.postgresType.rawValue.appendBigEndian(to: &bytes)
        guard !isEmpty else { return true }
        Int32(clamping: count).appendBigEndian(to: &bytes)
        Int32(1).appendBigEndian(to: &bytes)
        for element in self {
            let lengthOffset = bytes.count
            Int32(-1).appendBigEndian(to: &bytes)
            guard element.encodePostgres(into: &bytes) else {
                bytes[flagsOffset + 3] = 1
                continue
            }
            let length = Int32(clamping: bytes.count - lengthOffset - 4)
            bytes.withUnsafeMutableBytes { $0.storeBytes(of: length.bigEndian, toByteOffset: lengthOffset, as: Int32.self) }
        }
        return true
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    /// Reads `bytea` as bytes, and an array of at most one dimension as an array of another element.
    public init(postgres cell: PostgresCell) throws(PostgresError) {
        if Element.self == UInt8.self {
            let bytes = try cell.required(as: "[UInt8]", cell.type == .bytea)
            // The element was just checked to be UInt8, so the array has the type of Self.
            self = unsafeBitCast([UInt8](bytes), to: Self.self)
            return
        }
        var reader = ArrayReader(bytes: try cell.required(as: "Array", true))
        let dimensions = try reader.integer(Int32.self)
        _ = try reader.integer(Int32.self)
        let type = PostgresType(try reader.integer(UInt32.self))
        guard Element.acceptsElement(type) else {
            throw .decoding("an array of type \(type.rawValue) cannot be read as [\(Element.self)]")
        }
        guard dimensions != 0 else {
            self = []
            return
        }
        guard dimensions == 1 else { throw .decoding("an array of \(dimensions) dimensions") }
        let length = Int(try reader.integer(Int32.self))
        _ = try reader.integer(Int32.self)
        // Every element takes at least four bytes: a greater length is invalid and must not reserve memory.
        guard length >= 0, length <= reader.remaining / 4 else { throw .decoding("the length of an array exceeds its bytes") }
        self = []
        reserveCapacity(length)
        for _ in 0..<length {
            append(try Element(postgres: PostgresCell(type: type, bytes: try reader.element())))
        }
    }
}

/// Reads the binary form of an array.
private struct ArrayReader {
    var bytes: UnsafeRawBufferPointer
    var offset = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - offset }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(PostgresError) -> Value {
        let size = MemoryLayout<Value>.size
        guard remaining >= size else { throw .decoding("an array that ends early") }
        defer { offset += size }
        return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// Reads the bytes of the next element; nil for NULL.
    mutating func element() throws(PostgresError) -> UnsafeRawBufferPointer? {
        let length = Int(try integer(Int32.self))
        guard length >= 0 else { return nil }
        guard remaining >= length else { throw .decoding("an array that ends early") }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }
}
