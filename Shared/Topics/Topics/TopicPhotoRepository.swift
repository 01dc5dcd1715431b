public import Accounts
public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `topic_photos`. The states `ready` and `failed` are final.
public struct TopicPhotoRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a photo in the state `pending`, if its uploader is a member and the topic has room.
    ///
    /// - Returns: The photo; nil when the uploader is not a member, or the topic has ``TopicLimits/maxPhotos``.
    public func insert(_ new: NewTopicPhoto) async throws(PostgresError) -> TopicPhoto? {
        let rows = try await db.query(
            """
            INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, byte_count, expires_at)
            SELECT \(new.id), t.id, m.user_id, \(new.photoKey), \(new.byteCount)::bigint,
                   now() + make_interval(secs => \(new.lifetime / .seconds(1)))
            FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(new.uploaderID)
            WHERE t.name = \(new.topic.text)
              AND (SELECT count(*) FROM topic_photos p WHERE p.topic_id = t.id) < \(TopicLimits.maxPhotos)
            RETURNING *
            """)
        return try rows.first.map(TopicPhoto.init(row:))
    }

    /// Returns the time until an account may add another photo; nil when it may now.
    ///
    /// Blocks other such calls for this account until the transaction ends, so that each of several concurrent uploads counts the ones
    /// before it. Photos of deleted topics count until their blobs are deleted.
    public func lockQuota(
        _ quota: TopicPhotoQuota, uploaderID: UUID, byteCount: Int
    ) async throws(PostgresError) -> Duration? {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('topic_photos:' || (\(uploaderID)::uuid)::text, 0))")
        // A separate statement, whose snapshot is newer than the lock. Counting from the newest, finds the photo at which the sum with this
        // one exceeds a limit: that photo must become a day old first.
        let rows = try await db.query(
            """
            SELECT extract(epoch FROM created_at + interval '1 day' - clock_timestamp())::float8 AS wait
            FROM (SELECT created_at, row_number() OVER newest AS photos, sum(byte_count) OVER newest AS bytes
                  FROM topic_photos WHERE uploader_id = \(uploaderID) AND created_at > now() - interval '1 day'
                  WINDOW newest AS (ORDER BY created_at DESC, id)) AS day
            WHERE photos >= \(quota.photosPerDay)::bigint OR bytes + \(byteCount)::bigint > \(quota.bytesPerDay)::bigint
            ORDER BY created_at DESC LIMIT 1
            """)
        guard let row = rows.first else { return nil }
        return .seconds(max(1, try row.decode("wait", as: Double.self)))
    }

    /// Returns a photo of any user; nil when it does not exist or has expired.
    public func find(id: UUID) async throws(PostgresError) -> TopicPhoto? {
        let query: PostgresQuery = "SELECT * FROM topic_photos WHERE id = \(id) AND expires_at > now()"
        return try await db.query(query.readOnly()).first.map(TopicPhoto.init(row:))
    }

    /// Returns the photos of a topic that can be shown, the newest first; without photos of users whom the viewer blocks.
    ///
    /// - Parameters:
    ///   - userID: A member of the topic, who sees the list.
    ///   - cursor: The end of the previous page.
    ///   - limit: The most photos.
    public func list(
        topicID: UUID, seenBy userID: UUID, before cursor: ListCursor = .start, limit: Int
    ) async throws(PostgresError) -> [TopicPhoto] {
        let query: PostgresQuery = """
            SELECT * FROM topic_photos
            WHERE topic_id = \(topicID) AND state = 'ready' AND expires_at > now()
              AND uploader_id NOT IN (SELECT blocked_id FROM user_blocks WHERE user_id = \(userID))
              AND (created_at, id) < (\(cursor.createdAt), \(cursor.id))
            ORDER BY created_at DESC, id DESC LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(TopicPhoto.init(row:))
    }

    /// Sets a photo's thumbnail: `pending → ready`. It then counts as unread for all members but its uploader.
    ///
    /// - Returns: Whether this call changed the state; false when it was already final, or the topic is deleted.
    public func markReady(id: UUID, thumbnailKey: String) async throws(PostgresError) -> Bool {
        // Locks the topic before the photo, as the deletion of a topic does, which detaches its photos.
        let rows = try await db.query(
            """
            WITH topic AS (
                SELECT t.id AS its_id, t.item_seq AS its_seq FROM topics t JOIN topic_photos p ON p.topic_id = t.id
                WHERE p.id = \(id) AND p.state = 'pending' FOR NO KEY UPDATE OF t
            ), ready AS (
                UPDATE topic_photos SET state = 'ready', settled_at = now(), thumbnail_key = \(thumbnailKey), seq = its_seq + 1
                FROM topic WHERE id = \(id) AND state = 'pending' AND topic_id = its_id
                RETURNING its_id, uploader_id
            ), counted AS (
                UPDATE topics SET item_seq = item_seq + 1 FROM ready WHERE id = its_id
            ), seen AS (
                UPDATE topic_members m SET read_seq = read_seq + 1
                FROM ready WHERE m.topic_id = its_id AND m.user_id = uploader_id
            )
            SELECT its_id FROM ready
            """)
        return !rows.isEmpty
    }

    /// Records that a photo cannot be shown: `pending → failed`.
    ///
    /// - Returns: Whether this call changed the state.
    public func markFailed(id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "UPDATE topic_photos SET state = 'failed', settled_at = now() WHERE id = \(id) AND state = 'pending'") == 1
    }

    /// Returns at most `limit` photos whose blobs and rows are due for deletion: expired, or of a deleted topic.
    public func removable(limit: Int, except: [UUID] = []) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            (SELECT id FROM topic_photos WHERE expires_at <= now() AND id <> ALL(\(except)) ORDER BY expires_at LIMIT \(limit))
            UNION
            (SELECT id FROM topic_photos WHERE topic_id IS NULL AND id <> ALL(\(except)) ORDER BY id LIMIT \(limit))
            LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).column("id")
    }

    /// Deletes the rows of photos that are due for deletion; others are left alone. Their blobs must already be deleted.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func remove(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            "DELETE FROM topic_photos WHERE id = ANY(\(ids)) AND (expires_at <= now() OR topic_id IS NULL)")
    }
}
