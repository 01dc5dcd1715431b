public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `topic_photos`. A photo is ready or failed once, and stays so.
public struct TopicPhotoRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a photo in the state `pending`, if its uploader is in the topic and the topic has room.
    ///
    /// - Returns: The photo; nil when it is not for them, or the topic has ``TopicLimits/photosMax``.
    public func insert(_ new: NewTopicPhoto) async throws(PostgresError) -> TopicPhoto? {
        let rows = try await db.query(
            """
            INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, byte_count, expires_at)
            SELECT \(new.id), t.id, m.user_id, \(new.photoKey), \(new.byteCount)::bigint,
                   now() + make_interval(secs => \(new.lifetime.inSeconds))
            FROM topics t JOIN topic_members m ON m.topic_id = t.id AND m.user_id = \(new.uploaderID)
            WHERE t.name = \(new.topic.text)
              AND (SELECT count(*) FROM topic_photos p WHERE p.topic_id = t.id) < \(TopicLimits.photosMax)
            RETURNING *
            """)
        return try rows.first.map { row throws(PostgresError) in try TopicPhoto(row: row) }
    }

    /// Says how long an account has to wait before it may add another photo: nil when it may now.
    ///
    /// Lets nobody else ask for this account until the transaction ends, so that of photos at the same time each sees those
    /// before it. Photos whose topic is gone count until their files are.
    public func lockQuota(
        _ quota: TopicPhotoQuota, uploaderID: UUID, byteCount: Int
    ) async throws(PostgresError) -> Duration? {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('topic_photos:' || (\(uploaderID)::uuid)::text, 0))")
        // A statement of its own, whose snapshot is younger than the lock. Newest first, the photos with which this one passes
        // a limit: the newest of them has to be a day old.
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

    /// Returns a photo, whoever's it is; nil when there is none, or it is past its life.
    public func find(id: UUID) async throws(PostgresError) -> TopicPhoto? {
        let query: PostgresQuery = "SELECT * FROM topic_photos WHERE id = \(id) AND expires_at > now()"
        return try await db.query(query.readOnly()).first.map { row throws(PostgresError) in try TopicPhoto(row: row) }
    }

    /// Gives a photo its thumbnail: `pending → ready`. From then on it is one that members have not seen, but for its uploader.
    ///
    /// - Returns: Whether this call did; false when it is settled already, or its topic is gone.
    public func markReady(id: UUID, thumbnailKey: String) async throws(PostgresError) -> Bool {
        // The topic is locked before the photo, as when a topic goes and takes its photos out.
        let rows = try await db.query(
            """
            WITH topic AS (
                SELECT t.id AS its_id FROM topics t JOIN topic_photos p ON p.topic_id = t.id
                WHERE p.id = \(id) AND p.state = 'pending' FOR NO KEY UPDATE OF t
            ), ready AS (
                UPDATE topic_photos SET state = 'ready', settled_at = now(), thumbnail_key = \(thumbnailKey)
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

    /// Notes that a photo cannot be shown: `pending → failed`.
    ///
    /// - Returns: Whether this call did.
    public func markFailed(id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "UPDATE topic_photos SET state = 'failed', settled_at = now() WHERE id = \(id) AND state = 'pending'") == 1
    }

    /// Returns photos whose files and rows are due to go, at most `limit`: past their life, or their topic is gone.
    public func removable(limit: Int, except: [UUID] = []) async throws(PostgresError) -> [UUID] {
        let query: PostgresQuery = """
            (SELECT id FROM topic_photos WHERE expires_at <= now() AND id <> ALL(\(except)) ORDER BY expires_at LIMIT \(limit))
            UNION
            (SELECT id FROM topic_photos WHERE topic_id IS NULL AND id <> ALL(\(except)) ORDER BY id LIMIT \(limit))
            LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try row.decode("id") }
    }

    /// Deletes rows of photos that are due to go; others are left alone. Their files have to be gone.
    ///
    /// - Returns: How many rows were deleted.
    @discardableResult
    public func remove(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            "DELETE FROM topic_photos WHERE id = ANY(\(ids)) AND (expires_at <= now() OR topic_id IS NULL)")
    }
}
