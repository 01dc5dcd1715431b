public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The result of deleting a job for its user.
public enum ImageJobDeletion: Sendable, Equatable {
    /// The job is deleted for its user, and no worker holds it: the caller deletes its pictures, then its row.
    case deleted(ImageJob)
    /// The job is deleted for its user; the worker that holds it stops, and deletes its pictures.
    case stopping(ImageJob)
    /// The job belongs to another user.
    case forbidden
    /// The job does not exist, or no longer.
    case notFound
}

extension ImageJobRepository {
    /// The time for which the pictures of a deleted job are left to the API or its worker, before a sweeper deletes them.
    public static let deletionGrace: Duration = .seconds(60)

    /// Deletes a job for its user, in any state: from now on it is invisible, and no push follows.
    ///
    /// The pictures are deleted next and the row last (``remove(_:)``), so that after a crash in between the sweeper finds them by
    /// the row.
    public func delete(id: UUID, userID: UUID) async throws(PostgresError) -> ImageJobDeletion {
        let rows = try await db.query(
            """
            UPDATE image_jobs SET deleted_at = now()
            WHERE id = \(id) AND user_id = \(userID) AND \(unescaped: Self.isVisible)
            RETURNING *
            """)
        if let job = try rows.first.map(ImageJob.init(row:)) { return job.status == .processing ? .stopping(job) : .deleted(job) }
        guard let job = try await find(id: id) else { return .notFound }
        // Visible and the user's own: another call deleted it, and this row was read from an older snapshot.
        return job.userID == userID ? .notFound : .forbidden
    }

    /// Returns at most `limit` jobs whose pictures and rows are due for deletion: expired, or deleted by their user and left behind.
    ///
    /// A job that is being processed is left to its worker until its deadline.
    public func removable(limit: Int, except: [UUID] = []) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            (SELECT id FROM image_jobs WHERE expires_at <= now() AND id <> ALL(\(except)) ORDER BY expires_at LIMIT \(limit))
            UNION
            (SELECT id FROM image_jobs
             WHERE deleted_at <= now() - make_interval(secs => \(Self.deletionGrace / .seconds(1)))
               AND (status <> 'processing' OR deadline_at <= now()) AND id <> ALL(\(except))
             ORDER BY deleted_at LIMIT \(limit))
            LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).column("id")
    }

    /// Deletes the rows of deleted or expired jobs; others are left alone. Their pictures must already be deleted.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func remove(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            "DELETE FROM image_jobs WHERE id = ANY(\(ids)) AND (deleted_at IS NOT NULL OR expires_at <= now())")
    }

    /// Returns at most `limit` jobs that have timed out, or ended `gracePeriod` ago, and whose upload is still stored.
    ///
    /// The worker deletes the upload when it ends a job; these were left by workers that crashed in between, or never ended the job.
    public func leftoverInputs(gracePeriod: Duration, limit: Int, except: [UUID] = []) async throws(PostgresError) -> [ImageJob] {
        let query: PostgresQuery = """
            SELECT * FROM image_jobs
            WHERE status IN ('completed', 'failed') AND input_key IS NOT NULL
              AND (error_code = 'timeout' OR completed_at < now() - make_interval(secs => \(gracePeriod / .seconds(1))))
              AND id <> ALL(\(except))
            ORDER BY completed_at LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(ImageJob.init(row:))
    }

    /// Records that the uploads of these jobs, and the raw pictures of generators, are deleted from the blob store.
    public func inputsDeleted(_ ids: [UUID]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute("UPDATE image_jobs SET input_key = NULL WHERE id = ANY(\(ids)) AND input_key IS NOT NULL")
    }
}
