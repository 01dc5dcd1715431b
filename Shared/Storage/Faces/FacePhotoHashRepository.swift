public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_photo_hashes`: a photo that is uploaded a second time for a user is a replay.
public struct FacePhotoHashRepository: Sendable {
    /// The time for which the hash of a photo is kept: 180 days.
    ///
    /// Long enough for a recorded upload to become stale, and no longer: the hash of a face photo is personal data, and the table
    /// must not grow without bound. At 3 photos a sign-in and two sign-ins a day, a user has about 1,000 rows of 100 bytes.
    public static let lifetime: Duration = .seconds(180 * 24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores the SHA-256 hashes of a user's photos. Runs its statement even for an empty list, so that a sign-up that changes
    /// nothing executes the same statements as one that does.
    ///
    /// - Returns: The number of new hashes.
    @discardableResult
    public func add(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            INSERT INTO face_photo_hashes (user_id, photo_hash)
            SELECT DISTINCT \(userID), hash FROM unnest(\(hashes)) AS hash ORDER BY hash
            ON CONFLICT DO NOTHING
            """)
    }

    /// Returns whether one of these photos was uploaded before for this user.
    public func containsAny(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Bool {
        guard !hashes.isEmpty else { return false }
        let query: PostgresQuery = """
            SELECT EXISTS (
                SELECT FROM face_photo_hashes WHERE user_id = \(userID) AND photo_hash = ANY(\(hashes))) AS seen
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first?.decode("seen", as: Bool.self) ?? false
    }

    /// Deletes at most `limit` hashes older than `lifetime`.
    ///
    /// - Returns: The number of deleted hashes.
    @discardableResult
    public func deleteExpired(lifetime: Duration = Self.lifetime, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_photo_hashes WHERE (user_id, photo_hash) IN (
                SELECT user_id, photo_hash FROM face_photo_hashes
                WHERE created_at < now() - make_interval(secs => \(lifetime / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
