public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_photo_hashes`: a photo that comes a second time for a user is a replay.
public struct FacePhotoHashRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Notes the SHA-256 hashes of a user's photos.
    ///
    /// - Returns: How many of them were new.
    @discardableResult
    public func add(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Int {
        guard !hashes.isEmpty else { return 0 }
        return try await db.execute(
            """
            INSERT INTO face_photo_hashes (user_id, photo_hash)
            SELECT DISTINCT \(userID), hash FROM unnest(\(hashes)) AS hash ORDER BY hash
            ON CONFLICT DO NOTHING
            """)
    }

    /// Whether one of these photos was seen before for this user.
    public func containsAny(userID: UUID, hashes: [[UInt8]]) async throws(PostgresError) -> Bool {
        guard !hashes.isEmpty else { return false }
        let rows = try await db.query(
            """
            SELECT EXISTS (
                SELECT FROM face_photo_hashes WHERE user_id = \(userID) AND photo_hash = ANY(\(hashes))) AS seen
            """)
        return try rows.first?.decode("seen", as: Bool.self) ?? false
    }
}
