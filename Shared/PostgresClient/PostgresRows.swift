internal import CLibPQ
internal import Synchronization

/// The rows of a result; a column is decoded when it is read.
public struct PostgresRows: RandomAccessCollection, Sendable {
    let result: PostgresResult

    /// The number of rows that the statement inserted, updated, deleted or returned.
    public var affectedRows: Int { result.affectedRows }

    public var startIndex: Int { 0 }
    public var endIndex: Int { result.rowCount }

    public subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < endIndex, "row \(position) of \(endIndex)")
        return PostgresRow(result: result, row: Int32(position))
    }

    /// Reads a column of all rows.
    public func column<Value: PostgresDecodable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> [Value] {
        try map { row throws(PostgresError) in try row.decode(name, as: type) }
    }

    /// Returns the first row of a statement that has one in any case.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when there is none.
    public func required() throws(PostgresError) -> PostgresRow {
        guard let row = first else { throw .decoding("a statement returned no row") }
        return row
    }
}

/// One row of a result.
public struct PostgresRow: Sendable {
    let result: PostgresResult
    let row: Int32

    /// Reads the column of that name.
    ///
    /// Request an optional type where the column may be NULL.
    /// - Throws: ``PostgresError`` with code `decoding` when there is no such column, or it is NULL or of another type.
    public func decode<Value: PostgresDecodable>(
        _ column: String, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard let index = result.columnIndex(column) else { throw .decoding("no column \(column)") }
        do {
            return try decode(index, as: type)
        } catch {
            throw .decoding("column \(column): \(error.message)")
        }
    }

    /// Reads the column at a position, counted from 0.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when there is no such column, or it is NULL or of another type.
    public func decode<Value: PostgresDecodable>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard index >= 0, index < result.columnCount else { throw .decoding("no column \(index)") }
        // The cell points into the result, which has to outlive it.
        defer { withExtendedLifetime(result) {} }
        return try Value(postgres: result.cell(row: row, column: Int32(index)))
    }
}

/// Owns a PGresult of libpq.
///
/// Sendable is unchecked: libpq never changes a finished PGresult, and only deinit frees it.
final class PostgresResult: @unchecked Sendable {
    private let pointer: OpaquePointer
    let rowCount: Int
    let columnCount: Int
    /// Where the next lookup of a name begins: at the column that the last one has found, because rows are read column by column.
    private let lookupStart = Atomic(0)

    /// Takes ownership of a PGresult.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        rowCount = Int(PQntuples(pointer))
        columnCount = Int(PQnfields(pointer))
    }

    deinit {
        PQclear(pointer)
    }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// Returns the error of a result with status FATAL_ERROR.
    func error(on connection: OpaquePointer) -> PostgresError { PostgresError(result: pointer, connection: connection) }

    var affectedRows: Int {
        guard let text = PQcmdTuples(pointer), text.pointee != 0 else { return rowCount }
        return Int(String(cString: text)) ?? rowCount
    }

    /// The command tag, such as `COMMIT`.
    var commandTag: String { PQcmdStatus(pointer).map { String(cString: $0) } ?? "" }

    /// Returns the position of the column of that name, which must be the only one.
    func columnIndex(_ name: String) -> Int? {
        var name = name
        // PQfnumber would fold the case, allocate, and begin with the first column each time.
        return name.withUTF8 { name in
            var index = lookupStart.load(ordering: .relaxed)
            for _ in 0..<columnCount {
                if isNamed(name, index) {
                    assert((0..<columnCount).filter { isNamed(name, $0) }.count == 1, "two columns have the name that is read")
                    lookupStart.store(index, ordering: .relaxed)
                    return index
                }
                index = index + 1 < columnCount ? index + 1 : 0
            }
            return nil
        }
    }

    private func isNamed(_ name: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        guard let candidate = PQfname(pointer, Int32(index)) else { return false }
        var offset = 0
        while offset < name.count {
            let byte = UInt8(bitPattern: candidate[offset])
            guard byte != 0, byte == name[offset] else { return false }
            offset += 1
        }
        return candidate[offset] == 0
    }

    func cell(row: Int32, column: Int32) -> PostgresCell {
        let type = PostgresType(PQftype(pointer, column))
        guard PQgetisnull(pointer, row, column) == 0 else { return PostgresCell(type: type, bytes: nil) }
        let count = Int(PQgetlength(pointer, row, column))
        return PostgresCell(type: type, bytes: UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, column), count: count))
    }
}
