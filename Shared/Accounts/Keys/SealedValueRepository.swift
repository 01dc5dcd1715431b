public import FoundationEssentials
internal import HeliographCrypto
public import PostgresClient
internal import Push
internal import WireFormat

/// Reads sealed values by the keys that sealed them, and replaces them by values that another key sealed.
public struct SealedValueRepository: Sendable {
    /// Timeout of a count, which reads a whole table.
    public static let countTimeout: Duration = .seconds(120)

    let db: any PostgresQueryable

    /// Works on a client.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// A part of a column in the order of the primary key.
    public struct Page: Sendable {
        /// The sealed values that another key than the current one may have sealed.
        public let cells: [SealedCell]
        /// The last primary key that was read; nil at the end of the table.
        public let last: UUID?
    }

    /// Reads at most `limit` rows of a column, and returns the rows that a key other than `keyID` may have sealed.
    ///
    /// - Parameters:
    ///   - id: The last primary key of the page before; nil to begin.
    ///   - keyID: Nil returns all rows with sealed values.
    public func page(
        of column: SealedColumn, after id: UUID?, limit: Int, exceptKey keyID: String? = nil
    ) async throws(PostgresError) -> Page {
        let start = id ?? Self.first
        let query: PostgresQuery
        switch column.content {
        case .value(let owner, _), .hashed(let owner, _):
            let current = keyID.map { Sealer.start(ofValuesWithKey: $0) }
            query = """
                SELECT \(unescaped: column.key) AS id, \(unescaped: owner) AS owner,
                       CASE WHEN \(current)::bytea IS NULL
                            OR substr(\(unescaped: column.column), 1, octet_length(\(current)::bytea)) <> \(current)::bytea
                            THEN \(unescaped: column.column) END AS bytes
                FROM \(unescaped: column.table) WHERE \(unescaped: column.key) > \(start) ORDER BY \(unescaped: column.key) LIMIT \(limit)
                """
        case .texts:
            query = """
                SELECT \(unescaped: column.key) AS id,
                       CASE WHEN \(unescaped: column.filter)
                            AND position(convert_to(\(SealedText.marker), 'UTF8') IN \(unescaped: column.column)) > 0
                            THEN \(unescaped: column.column) END AS bytes
                FROM \(unescaped: column.table) WHERE \(unescaped: column.key) > \(start) ORDER BY \(unescaped: column.key) LIMIT \(limit)
                """
        }
        let rows = try await db.query(query)
        var cells: [SealedCell] = []
        for row in rows {
            if let cell = try SealedCell(row: row, of: column) { cells.append(cell) }
        }
        return Page(cells: cells, last: rows.count < limit ? nil : try rows.last?.decode("id"))
    }

    /// Replaces the bytes of a cell, if they are still the same: a concurrent write wins.
    ///
    /// - Returns: Whether they were replaced.
    public func replace(_ cell: SealedCell, of column: SealedColumn, by new: [UInt8]) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE \(unescaped: column.table) SET \(unescaped: column.column) = \(new)
            WHERE \(unescaped: column.key) = \(cell.id) AND \(unescaped: column.column) = \(cell.bytes)
            """) == 1
    }

    /// Counts the sealed values of a column by the id of the key that sealed them; values that are not sealed have the id `""`.
    public func counts(of column: SealedColumn) async throws(PostgresError) -> [String: Int] {
        guard case .texts = column.content else { return try await valueCounts(of: column) }
        return try await textCounts(column.column, in: column.table, where: column.filter)
    }

    /// Counts the sealed texts in events that have not been handled: they are stored again as notifications.
    public func countsInOutbox() async throws(PostgresError) -> [String: Int] {
        let type = NotificationRequested.type.rawValue
        return try await textCounts("body", in: "outbox", where: "state IN ('waiting', 'published') AND type = '\(type)'")
    }

    private func valueCounts(of column: SealedColumn) async throws(PostgresError) -> [String: Int] {
        let query: PostgresQuery = """
            SELECT \(unescaped: Self.keyID(of: column.column)) AS key_id, count(*)::bigint AS count
            FROM \(unescaped: column.table) WHERE \(unescaped: column.filter) GROUP BY 1
            """
        var counts: [String: Int] = [:]
        for row in try await db.query(query.timeout(Self.countTimeout)) {
            counts[try row.decode("key_id")] = Int(try row.decode("count", as: Int64.self))
        }
        return counts
    }

    /// Counts the sealed texts in a column with JSON.
    private func textCounts(
        _ json: String, in table: String, where filter: String
    ) async throws(PostgresError) -> [String: Int] {
        let query: PostgresQuery = """
            SELECT found[1] AS value
            FROM (SELECT \(unescaped: json) AS json FROM \(unescaped: table) WHERE \(unescaped: filter)) sealed,
                 LATERAL regexp_matches(convert_from(json, 'UTF8'), \(SealedText.pattern), 'g') found
            """
        let values: [String] = try await db.query(query.timeout(Self.countTimeout)).column("value")
        return Dictionary(values.map { (Base64URL.decode($0).flatMap { Sealer.keyID(of: $0) } ?? "", 1) }, uniquingKeysWith: +)
    }

    /// SQL for the id of the key in a sealed value, or `''` for a value that is not sealed.
    ///
    /// A header is version, kind, length of the key's id, the key's id: see SealHeader.
    static func keyID(of bytes: String) -> String {
        """
        CASE WHEN octet_length(\(bytes)) > 3 AND get_byte(\(bytes), 0) = \(Sealer.version)
             THEN encode(substr(\(bytes), 4, get_byte(\(bytes), 2)), 'escape') ELSE '' END
        """
    }

    /// The id before all others.
    static let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
