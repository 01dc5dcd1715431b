internal import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `topic_photo_windows`, which collect the new photos of a topic for one push.
///
/// The first ready photo opens its topic's window; later ones join it. The window is closed once, by the first process that finds it
/// due: the row is the only timer, so no push is lost with a process.
public struct TopicPhotoWindowRepository: Sendable {
    /// The time for which a window is open.
    public static let length: Duration = .seconds(10)
    /// The additional time for photos that were uploaded before the window's end and have no thumbnail yet.
    public static let patience: Duration = .seconds(20)
    /// A window does not wait for pending photos that were uploaded this long before it opened.
    private static let staleAge: Duration = .seconds(60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Adds a photo that has just become ready to its topic's window. Call in the transaction of
    /// ``TopicPhotoRepository/markReady(id:thumbnailKey:)``, so that each photo is part of one push.
    ///
    /// - Parameters:
    ///   - requestID: The request that added the photo.
    ///   - traceparent: The trace it belongs to.
    public func add(
        _ photo: TopicPhoto, thumbnailKey: String, requestID: String? = nil, traceparent: String? = nil
    ) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO topic_photo_windows AS w (topic_id, uploader_id, sender_id, thumbnail_key, request_id, traceparent, due_at)
            VALUES (\(photo.topicID), \(photo.uploaderID), \(photo.uploaderID), \(thumbnailKey), \(requestID), \(traceparent),
                    now() + make_interval(secs => \(Self.length / .seconds(1))))
            ON CONFLICT (topic_id) DO UPDATE
            SET uploader_id = CASE WHEN w.uploader_id = EXCLUDED.uploader_id THEN w.uploader_id END,
                sender_id = EXCLUDED.sender_id, thumbnail_key = EXCLUDED.thumbnail_key, photo_count = w.photo_count + 1
            """)
    }

    /// Closes at most `limit` due windows, the oldest first. Publish their pushes in the same transaction.
    ///
    /// Skips windows that another transaction is closing or adding to.
    public func closeDue(limit: Int) async throws(PostgresError) -> [TopicPhotoWindow] {
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT topic_id AS due_id FROM topic_photo_windows w
                WHERE due_at <= now()
                  AND (due_at <= now() - make_interval(secs => \(Self.patience / .seconds(1))) OR NOT EXISTS (
                      SELECT FROM topic_photos p
                      WHERE p.topic_id = w.topic_id AND p.state = 'pending' AND p.created_at <= w.due_at
                        AND p.created_at > w.opened_at - make_interval(secs => \(Self.staleAge / .seconds(1)))))
                ORDER BY due_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            DELETE FROM topic_photo_windows w USING due, topics t
            WHERE w.topic_id = due_id AND t.id = due_id
            RETURNING w.*, t.name, t.member_count
            """)
        return try rows.map(TopicPhotoWindow.init(row:))
    }
}
