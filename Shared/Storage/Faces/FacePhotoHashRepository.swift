public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_photo_hashes`: a photo that comes a second time for a user is a replay.
public struct FacePhotoHashRepository: Sendable {
    /// How long a photo is remembered: 180 days.
    ///
    /// Long enough for an upload that was recorded on its way to be stale, and no longer than that: the hash of a face's
    /// picture is personal data, and a table that only grows is nobody's friend. At 3 photos a sign-in and two
    /// sign-ins a day a person has about 1,000 rows of 100 bytes.
    public static let lifetime: Duration = .seconds(180 * 24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Notes the SHA-256 hashes of a user's photos. For none it asks the database all the same, so that a sign-up which changes
    /// nothing takes the statements of one that does.
    ///
    /// - Returns: How many of them were new.
    @discardableResult
    public func add(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            INSERT INTO face_photo_hashes (user_id, photo_hash)
            SELECT DISTINCT \(userID), hash FROM unnest(\(hashes)) AS hash ORDER BY hash
            ON CONFLICT DO NOTHING
            """)
    }

    /// Whether one of these photos was seen before for this user.
    public func containsAny(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Bool {
        guard !hashes.isEmpty else { return false }
        let query: PostgresQuery = """
            SELECT EXISTS (
                SELECT FROM face_photo_hashes WHERE user_id = \(userID) AND photo_hash = ANY(\(hashes))) AS seen
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first?.decode("seen", as: Bool.self) ?? false
    }

    /// Deletes hashes older than `lifetime`, at most `limit`.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteExpired(lifetime: Duration = Self.lifetime, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_photo_hashes WHERE (user_id, photo_hash) IN (
                SELECT user_id, photo_hash FROM face_photo_hashes
                WHERE created_at < now() - make_interval(secs => \(lifetime.inSeconds))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
