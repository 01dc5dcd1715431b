public import PostgresClient

/// Reads the faces of all accounts by their numbers, and the changes since the last read.
///
/// Transactions are not committed in the order in which they took their numbers. So each read returns the oldest transaction that was
/// running at its time, and the next read returns the changes of that transaction and of all later ones. Some changes are read twice, and
/// no change is missed.
public struct FaceChangeRepository: Sendable {
    /// The time for which removals are kept. A reader that has not read for so long must read all faces again.
    public static let removalLifetime: Duration = .seconds(24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the position from which the changes are to be read, before all faces are read.
    public func position() async throws(PostgresError) -> FacePosition {
        let query: PostgresQuery = "SELECT \(unescaped: Self.oldestRunning) AS oldest"
        return FacePosition(oldestRunning: try await db.query(query.readOnly()).required().decode("oldest"), seen: [])
    }

    /// Returns faces in the order of their numbers.
    ///
    /// - Parameter number: The last number of the page before; nil to begin.
    public func page(of model: FaceModel, after number: Int64?, limit: Int) async throws(PostgresError) -> [NumberedFace] {
        let query: PostgresQuery = """
            SELECT * FROM (
                (SELECT number, user_id, template_sealed, false AS is_waiting FROM face_templates
                 WHERE number > \(number ?? 0) AND model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion)
                 ORDER BY number LIMIT \(limit))
                UNION ALL
                (SELECT number, user_id, template_sealed, true AS is_waiting FROM pending_enrolments
                 WHERE number > \(number ?? 0) AND model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion)
                 ORDER BY number LIMIT \(limit))) f
            ORDER BY number LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(NumberedFace.init(row:))
    }

    /// Returns the faces of these numbers that there are.
    public func faces(of model: FaceModel, numbers: [Int64]) async throws(PostgresError) -> [NumberedFace] {
        let query: PostgresQuery = """
            SELECT number, user_id, template_sealed, false AS is_waiting FROM face_templates
            WHERE number = ANY(\(numbers)) AND model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion)
            UNION ALL
            SELECT number, user_id, template_sealed, true AS is_waiting FROM pending_enrolments
            WHERE number = ANY(\(numbers)) AND model_id = \(model.id) AND pipeline_version = \(model.pipelineVersion)
            """
        return try await db.query(query.readOnly()).map(NumberedFace.init(row:))
    }

    /// Returns the changes since a position, in one look at three indexes.
    public func changes(since position: FacePosition) async throws(PostgresError) -> FaceChanges {
        let since = position.oldestRunning
        // Rows of a restored dump may name transactions that this server has yet to begin.
        let query: PostgresQuery = """
            WITH now AS (
                SELECT \(unescaped: Self.oldestRunning) AS oldest, pg_snapshot_xmax(pg_current_snapshot()) AS next,
                       (\(since)::bigint)::text::xid8 AS since)
            SELECT 'at' AS kind, oldest AS number FROM now
            UNION ALL
            SELECT 'added', number FROM face_templates
            WHERE changed_in >= (SELECT since FROM now) AND changed_in < (SELECT next FROM now)
            UNION ALL
            SELECT 'added', number FROM pending_enrolments
            WHERE changed_in >= (SELECT since FROM now) AND changed_in < (SELECT next FROM now)
            UNION ALL
            SELECT 'removed', number FROM face_removals
            WHERE changed_in >= (SELECT since FROM now) AND changed_in < (SELECT next FROM now)
            """
        var (added, removed, oldest): ([Int64], [Int64], Int64) = ([], [], since)
        for row in try await db.query(query.readOnly()) {
            let number: Int64 = try row.decode("number")
            switch try row.decode("kind", as: String.self) {
            case "at": oldest = number
            case "added": added.append(number)
            default: removed.append(number)
            }
        }
        return FaceChanges(
            added: added, removed: removed, position: FacePosition(oldestRunning: oldest, seen: Set(added)), isReset: oldest < since)
    }

    /// Deletes at most `limit` removals past ``removalLifetime``.
    ///
    /// - Returns: The number of deleted rows.
    public func deleteOldRemovals(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_removals WHERE number IN (
                SELECT number FROM face_removals
                WHERE removed_at < now() - make_interval(secs => \(Self.removalLifetime / .seconds(1)))
                ORDER BY removed_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    private static let oldestRunning = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
}
