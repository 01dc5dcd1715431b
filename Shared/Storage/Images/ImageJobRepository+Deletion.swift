public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// What became of a user's wish to be rid of a job.
public enum ImageJobDeletion: Sendable, Equatable {
    /// It is gone for its user and nobody works on it: its pictures are the caller's to delete, then its row.
    case deleted(ImageJob)
    /// It is gone for its user; the worker that has it stops, and deletes what there is.
    case stopping(ImageJob)
    /// It is somebody else's.
    case forbidden
    /// There is none, or no longer.
    case notFound
}

extension ImageJobRepository {
    /// How long a deleted job is left to those who should delete its pictures, before a sweeper does.
    public static let deletionGrace: Duration = .seconds(60)

    /// Deletes a job for its user, at any stage: from here on nobody sees it, and no push follows.
    ///
    /// The pictures go next and the row last (``remove(_:)``), so that a crash in between leaves a row by which the sweeper
    /// finds them.
    public func delete(id: UUID, userID: UUID) async throws(PostgresError) -> ImageJobDeletion {
        let rows = try await db.query(
            """
            UPDATE image_jobs SET deleted_at = now()
            WHERE id = \(id) AND user_id = \(userID) AND \(unescaped: Self.isVisible)
            RETURNING *
            """)
        if let job = try jobs(rows).first { return job.status == .processing ? .stopping(job) : .deleted(job) }
        guard let job = try await find(id: id) else { return .notFound }
        // Its own and visible after all: somebody else deleted it and the row was read from an older state.
        return job.userID == userID ? .notFound : .forbidden
    }

    /// Returns jobs whose pictures and rows are due to go, at most `limit`: past their life, or deleted and left behind.
    ///
    /// One that a worker still has is left to it until its deadline.
    public func removable(limit: Int, except: [UUID] = []) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            (SELECT id FROM image_jobs WHERE expires_at <= now() AND id <> ALL(\(except)) ORDER BY expires_at LIMIT \(limit))
            UNION
            (SELECT id FROM image_jobs
             WHERE deleted_at <= now() - make_interval(secs => \(Self.deletionGrace.inSeconds))
               AND (status <> 'processing' OR deadline_at <= now()) AND id <> ALL(\(except))
             ORDER BY deleted_at LIMIT \(limit))
            LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try row.decode("id") }
    }

    /// Deletes rows of jobs that are deleted or past their life; others are left alone. Their pictures have to be gone.
    ///
    /// - Returns: How many rows were deleted.
    @discardableResult
    public func remove(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            "DELETE FROM image_jobs WHERE id = ANY(\(ids)) AND (deleted_at IS NOT NULL OR expires_at <= now())")
    }

    /// Returns ended jobs whose upload is still stored `gracePeriod` after the end, at most `limit`.
    ///
    /// The worker deletes it when it ends a job; this finds what it left when it died in between.
    public func leftoverInputs(gracePeriod: Duration, limit: Int, except: [UUID] = []) async throws(PostgresError) -> [ImageJob] {
        let query: PostgresQuery = """
            SELECT * FROM image_jobs
            WHERE status IN ('completed', 'failed') AND input_key IS NOT NULL
              AND completed_at < now() - make_interval(secs => \(gracePeriod.inSeconds)) AND id <> ALL(\(except))
            ORDER BY completed_at LIMIT \(limit)
            """
        return try await jobs(db.query(query.readOnly()))
    }

    /// Notes that the uploads of these jobs, and what generators gave for them, are no longer in the blob store.
    public func inputsDeleted(_ ids: [UUID]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute("UPDATE image_jobs SET input_key = NULL WHERE id = ANY(\(ids)) AND input_key IS NOT NULL")
    }
}
