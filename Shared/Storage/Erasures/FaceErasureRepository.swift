public import FoundationEssentials
public import PostgresClient

/// Deletes what face-matching-worker keeps of a user.
public struct FaceErasureRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Deletes the face of a user.
    public func deleteTemplate(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("DELETE FROM face_templates WHERE user_id = \(userID)")
    }

    /// Deletes the hashes of a user's photos.
    public func deletePhotoHashes(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("DELETE FROM face_photo_hashes WHERE user_id = \(userID)")
    }
}
