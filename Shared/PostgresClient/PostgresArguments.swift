/// The bound values of a query, in one arena of bytes: an allocation per value would cost more than sending it.
struct PostgresArguments: Sendable {
    /// The server's limit on the parameters of one statement.
    static let maxCount = 65535

    private(set) var bytes: [UInt8] = []
    /// The start of each value in ``bytes``.
    private(set) var offsets: [Int] = []
    /// The length of each value in bytes; -1 is NULL.
    private(set) var lengths: [Int32] = []
    private(set) var types: [UInt32] = []

    var count: Int { types.count }

    mutating func append<Value: PostgresEncodable>(_ value: Value) {
        let start = bytes.count
        let isPresent = value.encodePostgres(into: &bytes)
        offsets.append(start)
        lengths.append(isPresent ? Int32(clamping: bytes.count - start) : -1)
        types.append(Value.postgresType.rawValue)
    }

    /// Calls the body with the arguments of libpq's send functions: pointers to the values, their lengths and formats.
    func withPointers<Result>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        guard count > 0 else { return body(nil, nil, nil) }
        return bytes.withUnsafeBytes { arena in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count) { formats in
                    for index in 0..<count {
                        // An empty arena has no base address, but an empty value must not look like NULL.
                        let base = arena.baseAddress ?? Self.emptyValue
                        let pointer = (base + offsets[index]).assumingMemoryBound(to: CChar.self)
                        values.initializeElement(at: index, to: lengths[index] < 0 ? nil : pointer)
                        formats.initializeElement(at: index, to: 1)
                    }
                    return lengths.withUnsafeBufferPointer { lengths in
                        body(UnsafePointer(values.baseAddress), lengths.baseAddress, UnsafePointer(formats.baseAddress))
                    }
                }
            }
        }
    }

    // Unchecked: immutable for the life of the process, and never read, because values that point here have length 0.
    private nonisolated(unsafe) static let emptyValue = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
}
