internal import CLibPQ
internal import Glibc
internal import Synchronization

/// The rows of a result; a column is decoded when it is read.
public struct PostgresRows: RandomAccessCollection, Sendable {
    let result: PostgresResult

    /// The number of rows that the statement inserted, updated, deleted or returned.
    public var affectedRows: Int { result.affectedRows }

    /// 0, the position of the first row, also when there are no rows.
    public var startIndex: Int { 0 }
    /// The number of rows, which is the position after the last one.
    public var endIndex: Int { result.rowCount }

    /// The row at a position from 0; a position outside of the result is a programming error and traps.
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

    /// Returns the first row of a statement that always has a row.
    ///
    /// - Throws: ``PostgresError`` with code `decoding` when the result is empty.
    public func required() throws(PostgresError) -> PostgresRow {
        guard let row = first else { throw .decoding("a statement returned no row") }
        return row
    }
}

/// One row of a result.
public struct PostgresRow: Sendable {
    @usableFromInline let result: PostgresResult
    @usableFromInline let row: Int32

    /// Reads the column of that name.
    ///
    /// Request an optional type where the column may be NULL.
    /// - Throws: ``PostgresError`` with code `decoding` when there is no such column, or it is NULL or of another type.
    @inlinable
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
    @inlinable
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
@usableFromInline final class PostgresResult: @unchecked Sendable {
    private let pointer: OpaquePointer
    let rowCount: Int
    @usableFromInline let columnCount: Int
    /// The column that the next lookup of a name tries first: the one after the last that was found, because rows are read column by
    /// column.
    private let nextColumn = Atomic(0)

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
    @usableFromInline func columnIndex(_ name: String) -> Int? {
        var name = name
        // PQfnumber would fold the case, allocate, and begin with the first column each time.
        return name.withUTF8 { name in
            let next = nextColumn.load(ordering: .relaxed)
            let index = next < columnCount && isNamed(name, next) ? next : (0..<columnCount).first { isNamed(name, $0) }
            guard let index else { return nil }
            assert((0..<columnCount).filter { isNamed(name, $0) }.count == 1, "two columns have the name that is read")
            nextColumn.store(index + 1, ordering: .relaxed)
            return index
        }
    }

    private func isNamed(_ name: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        guard let candidate = PQfname(pointer, Int32(index)), let start = name.baseAddress else { return false }
        return strnlen(candidate, name.count + 1) == name.count && memcmp(candidate, start, name.count) == 0
    }

    @usableFromInline func cell(row: Int32, column: Int32) -> PostgresCell {
        let type = PostgresType(PQftype(pointer, column))
        guard PQgetisnull(pointer, row, column) == 0 else { return PostgresCell(type: type, bytes: nil) }
        let count = Int(PQgetlength(pointer, row, column))
        return PostgresCell(type: type, bytes: UnsafeRawBufferPointer(start: PQgetvalue(pointer, row, column), count: count))
    }
}
