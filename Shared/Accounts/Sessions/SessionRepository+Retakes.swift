public import PostgresClient
internal import WireFormat

extension SessionRepository {
    /// Returns the failed session that a request names, if it keeps photos for this sender.
    public func keptPhotos(for request: RetakeRequest) async throws(PostgresError) -> RetakenSession? {
        let columns = """
            coalesce(series_id, id) AS series_id, photos_kept_until, photos::text AS photos, photo_problems::text AS photo_problems, \
            challenge, cost_ms, photo_bytes
            """
        let rows = try await db.query(Self.statement("SELECT \(columns) FROM sessions", on: request).readOnly())
        guard let row = rows.first else { return nil }
        return RetakenSession(
            seriesID: try row.decode("series_id"), keptUntil: try row.decode("photos_kept_until"), photos: try row.decodeJSON("photos"),
            problems: try row.decodeJSON("photo_problems"), challenge: try Session.challenge(row),
            cost: .milliseconds(try row.decode("cost_ms", as: Int32.self)), photoBytes: try row.decode("photo_bytes"))
    }

    /// Counts a copy of the kept photos before it is made.
    ///
    /// - Returns: False when they have been copied ``KeptPhotos/maxCopies`` times, or are not kept any more.
    public func countCopy(for request: RetakeRequest) async throws(PostgresError) -> Bool {
        let statement = "UPDATE sessions SET copy_count = copy_count + 1"
        return try await db.execute(Self.statement(statement, on: request, "AND copy_count < \(KeptPhotos.maxCopies)")) == 1
    }

    /// Takes the kept photos of a failed session for one retake: afterwards no other can use them, and they are deleted. Call in the
    /// transaction that inserts the retake, which has copies of them.
    ///
    /// - Returns: False when another retake has taken them, or their time is over.
    public func takePhotos(for request: RetakeRequest) async throws(PostgresError) -> Bool {
        try await db.execute(Self.statement("UPDATE sessions SET photos_kept_until = NULL", on: request)) == 1
    }

    /// A statement on the session that the request names, if it is of the same sender and keeps its photos.
    private static func statement(_ statement: String, on request: RetakeRequest, _ rest: String = "") -> PostgresQuery {
        """
        \(unescaped: statement)
        WHERE id = \(request.sessionID) AND token_hash = \(request.tokenHash) AND event = \(request.event.rawValue)
          AND state = 'failed' AND photos_kept_until > now()
          AND (CASE WHEN authorised THEN user_id END) IS NOT DISTINCT FROM \(request.authorisedBy)::uuid
          AND verification_id IS NOT DISTINCT FROM \(request.verificationID)::uuid
          AND (attempt_key IS NULL OR attempt_key = ANY(\(request.attemptKeys)))
          AND device_key IS NOT DISTINCT FROM \(request.deviceKey)::bytea
        \(unescaped: rest)
        """
    }
}
