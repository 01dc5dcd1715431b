public import FoundationEssentials
public import PostgresClient
internal import Push
internal import WireFormat

/// Photos of a decided session that are still in the blob store.
public struct LeftoverPhotos: Sendable, Equatable {
    /// The session.
    public let sessionID: UUID
    /// The photos to delete.
    public let photos: [SessionPhoto]
}

extension SessionRepository {
    /// Removes the references of sessions to their installations, after their push is settled. Sessions that have succeeded and are not
    /// redeemed keep theirs.
    ///
    /// - Returns: The installations, which may not be needed any more (``PushInstallRepository/deleteUnneeded(ids:)``).
    public func releaseInstalls(ofSettled ids: [UUID]) async throws(PostgresError) -> [UUID] {
        guard !ids.isEmpty else { return [] }
        let rows = try await db.query(
            """
            \(unescaped: Self.findReleased) id = ANY(\(ids)) AND (state IN ('failed', 'expired') OR redeemed_at IS NOT NULL)
            \(unescaped: Self.releaseFound)
            """)
        return try rows.column("released_install")
    }

    /// Removes the references of all sessions of a user to their installations.
    ///
    /// - Returns: The installations, which may not be needed any more; see ``releaseInstalls(ofSettled:)``.
    public func releaseInstalls(userID: UUID) async throws(PostgresError) -> [UUID] {
        try await db.query("\(unescaped: Self.findReleased) user_id = \(userID) \(unescaped: Self.releaseFound)").column("released_install")
    }

    /// Removes the reference of a session that is being redeemed, if its push is settled; otherwise the settlement removes it.
    ///
    /// - Returns: The installation, which may not be needed any more; see ``releaseInstalls(ofSettled:)``.
    public func releaseInstall(ofRedeemed id: UUID) async throws(PostgresError) -> [UUID] {
        let rows = try await db.query(
            """
            \(unescaped: Self.findReleased) id = \(id) AND EXISTS (
                SELECT FROM notifications
                WHERE dedupe_key = \(SignInPush.dedupeKey(about: id)) AND state IN ('settled', 'skipped'))
            \(unescaped: Self.releaseFound)
            """)
        return try rows.column("released_install")
    }

    private static let findReleased = """
        WITH released AS (SELECT id AS released_id, install_id AS released_install FROM sessions WHERE install_id IS NOT NULL AND
        """
    private static let releaseFound = """
        ORDER BY id FOR UPDATE)
        UPDATE sessions SET install_id = NULL FROM released WHERE id = released_id RETURNING released_install
        """

    /// Returns sessions by id, including expired records; unknown ids are omitted.
    public func find(ids: [UUID]) async throws(PostgresError) -> [Session] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT \(unescaped: Session.columns) FROM sessions WHERE id = ANY(\(ids))"
        return try await db.query(query.readOnly()).map(Session.init(row:))
    }

    /// Expires sessions that were not decided in time: `received | processing → expired`, reason `timeout`.
    ///
    /// Skips sessions that another transaction has locked.
    ///
    /// - Returns: The sessions this call expired, at most `limit`. Publish their event and push in the same transaction.
    public func expireOverdue(limit: Int) async throws(PostgresError) -> [Session] {
        let rows = try await db.query(
            """
            WITH overdue AS (
                SELECT id AS overdue_id FROM sessions
                WHERE state IN ('received', 'processing') AND deadline_at <= now()
                ORDER BY deadline_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE sessions SET state = 'expired', reason = 'timeout', retryable = \(SessionReason.timeout.isRetryable),
                photos_kept_until = NULL, completed_at = now(), email_lookups = NULL, email_sealed = NULL
            FROM overdue WHERE id = overdue_id
            RETURNING \(unescaped: Session.columns)
            """)
        return try rows.map(Session.init(row:))
    }

    /// Returns at most `limit` sessions that have expired, or were decided `gracePeriod` ago, and still list photos, without those in
    /// `except`. Photos that are kept for a retake are returned `gracePeriod` after the end of its time.
    ///
    /// The worker that decides deletes the photos itself; these were kept, or were left by workers that crashed in between, or never
    /// decided.
    public func leftoverPhotos(
        gracePeriod: Duration, limit: Int, except: [UUID] = []
    ) async throws(PostgresError) -> [LeftoverPhotos] {
        let query: PostgresQuery = """
            SELECT id, photos::text AS photos FROM sessions
            WHERE state IN ('succeeded', 'failed', 'expired') AND photos <> '[]'::jsonb
              AND (state = 'expired'
                   OR coalesce(photos_kept_until, completed_at) < now() - make_interval(secs => \(gracePeriod / .seconds(1))))
              AND id <> ALL(\(except))
            ORDER BY coalesce(photos_kept_until, completed_at) LIMIT \(limit)
            """
        let rows = try await db.query(query.readOnly())
        return try rows.map { row throws(PostgresError) in
            LeftoverPhotos(sessionID: try row.decode("id"), photos: try row.decodeJSON("photos"))
        }
    }

    /// Records that the photos of these sessions are deleted from the blob store.
    public func photosDeleted(_ ids: [UUID]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute(
            "UPDATE sessions SET photos = '[]', photos_kept_until = NULL WHERE id = ANY(\(ids)) AND photos <> '[]'::jsonb")
    }

    /// Deletes at most `limit` expired records; records that still list photos wait for `photosDeleted`.
    ///
    /// - Returns: The number of deleted records.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM sessions WHERE id IN (
                SELECT id FROM sessions WHERE expires_at <= now() AND photos = '[]'::jsonb
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
