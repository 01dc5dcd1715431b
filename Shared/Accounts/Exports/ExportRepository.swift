public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads a user's records for an export, in pages, so that a long list needs no more memory than a short one.
public struct ExportRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client; each page is a look of its own, so that an export holds no transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the next records of a list, the oldest first.
    ///
    /// - Parameters:
    ///   - last: The last record of the page before; `nil` for the first page.
    ///   - limit: The maximum number of records.
    public func records(
        of list: ExportedList, userID: UUID, after last: ExportedRecord?, limit: Int
    ) async throws(PostgresError) -> [ExportedRecord] {
        var query = PostgresQuery(
            unescaped: """
                SELECT record_at::text AS at, record_id AS id, json, sealed FROM (\(list.select)) AS exported
                WHERE $2::text IS NULL OR (record_at, record_id) > ($2::text::timestamptz, $3::text)
                ORDER BY record_at, record_id LIMIT $4
                """)
        query.bind(userID)
        query.bind(last?.at)
        query.bind(last?.id)
        query.bind(limit)
        return try await db.query(query).map(ExportedRecord.init(row:))
    }

    /// Returns the next results of the user's image jobs.
    ///
    /// - Parameter last: The job of the last picture of the page before; `nil` for the first page.
    public func results(of userID: UUID, after last: String?, limit: Int) async throws(PostgresError) -> [ExportedPicture] {
        try await db.query(
            """
            SELECT id::text, result_key AS key FROM image_jobs
            WHERE user_id = \(userID) AND deleted_at IS NULL AND expires_at > now() AND result_key IS NOT NULL
              AND (\(last)::text IS NULL OR id > \(last)::text::uuid)
            ORDER BY image_jobs.id LIMIT \(limit)
            """
        ).map(ExportedPicture.init(row:))
    }

    /// Returns the next photos that the user has added to events, as they were uploaded.
    ///
    /// - Parameter last: The last photo of the page before; `nil` for the first page.
    public func photos(of userID: UUID, after last: String?, limit: Int) async throws(PostgresError) -> [ExportedPicture] {
        try await db.query(
            """
            SELECT id::text, photo_key AS key FROM topic_photos
            WHERE uploader_id = \(userID) AND topic_id IS NOT NULL AND state <> 'failed' AND expires_at > now()
              AND (\(last)::text IS NULL OR id > \(last)::text::uuid)
            ORDER BY topic_photos.id LIMIT \(limit)
            """
        ).map(ExportedPicture.init(row:))
    }
}
