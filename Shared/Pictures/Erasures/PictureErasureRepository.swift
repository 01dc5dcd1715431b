internal import Accounts
public import FoundationEssentials
public import PostgresClient

/// Hides and selects the pictures of a user that image-worker deletes.
public struct PictureErasureRepository: Sendable {
    /// The time after which a worker that has begun a photo's thumbnail has certainly written it.
    public static let thumbnailTime = Duration.seconds(60)

    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db.withTimeLimit(Erasure.statementTimeout)
    }

    /// Deletes all jobs of a user as the user does: they are invisible from now on, and workers stop.
    public func hideJobs(of userID: UUID) async throws(PostgresError) {
        try await db.execute("UPDATE image_jobs SET deleted_at = now() WHERE user_id = \(userID) AND deleted_at IS NULL")
    }

    /// Returns at most `limit` jobs of a user that are not under a worker's lease.
    public func jobs(of userID: UUID, limit: Int) async throws(PostgresError) -> [UUID] {
        try await db.query(
            """
            SELECT id FROM image_jobs WHERE user_id = \(userID) AND deleted_at IS NOT NULL
                AND (status <> 'processing' OR lease_until <= now() OR lease_until IS NULL)
            ORDER BY id LIMIT \(limit)
            """
        ).column("id")
    }

    /// Removes a user's photos from their events, and from the pushes that are collected: another photo of the window is shown, and a
    /// window without another ends.
    ///
    /// - Returns: The number of windows that ended.
    public func hidePhotos(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("UPDATE topic_photos SET topic_id = NULL WHERE uploader_id = \(userID) AND topic_id IS NOT NULL")
        try await db.execute(
            "UPDATE topic_photos SET state = 'failed', settled_at = now() WHERE uploader_id = \(userID) AND state = 'pending'")
        try await db.execute(
            """
            UPDATE topic_photo_windows w SET sender_id = p.uploader_id, thumbnail_key = p.thumbnail_key
            FROM topic_photo_windows old JOIN LATERAL (
                SELECT uploader_id, thumbnail_key FROM topic_photos
                WHERE topic_id = old.topic_id AND state = 'ready' AND settled_at >= old.opened_at
                ORDER BY settled_at DESC LIMIT 1) p ON true
            WHERE w.topic_id = old.topic_id AND old.sender_id = \(userID) AND old.uploader_id IS NULL
            """)
        return try await db.execute("DELETE FROM topic_photo_windows WHERE \(userID) IN (sender_id, uploader_id)")
    }

    /// Deletes the row of a deleted job, and why its result was fetched.
    ///
    /// - Returns: The number of jobs.
    public func deleteJob(_ id: UUID) async throws(PostgresError) -> Int {
        try await db.enqueue("DELETE FROM image_job_reads WHERE job_id = \(id)")
        return try await ImageJobRepository(db).remove([id])
    }

    /// Deletes the counts of a user's paid calls; they stay in the totals.
    ///
    /// - Returns: The number of counts.
    public func deleteCalls(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("DELETE FROM image_calls WHERE user_id = \(userID)")
    }

    /// Deletes the costs of a user's jobs.
    ///
    /// - Returns: The number of minutes with a cost.
    public func deleteCosts(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("DELETE FROM image_costs WHERE user_id = \(userID)")
    }

    /// Returns at most `limit` hidden photos of a user to which no worker is about to write a thumbnail.
    public func photos(of userID: UUID, limit: Int) async throws(PostgresError) -> [UUID] {
        try await db.query(
            """
            SELECT id FROM topic_photos WHERE uploader_id = \(userID) AND topic_id IS NULL
                AND (state = 'ready' OR settled_at < now() - make_interval(secs => \(Self.thumbnailTime / .seconds(1))))
            ORDER BY id LIMIT \(limit)
            """
        ).column("id")
    }

    /// Returns whether pictures of a user are left.
    public func hasPictures(of userID: UUID) async throws(PostgresError) -> Bool {
        try await db.query(
            """
            SELECT EXISTS (SELECT FROM image_jobs WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM image_calls WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM image_costs WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM topic_photos WHERE uploader_id = \(userID)) AS are_left
            """
        ).required().decode("are_left")
    }
}
