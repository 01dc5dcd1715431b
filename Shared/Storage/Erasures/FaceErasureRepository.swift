public import PostgresClient

/// Deletes what face-matching-worker keeps of a user.
public struct FaceErasureRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Deletes the face of a user; a face that was enrolled after the request stays when only the face is erased.
    public func deleteTemplate(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_templates WHERE user_id = \(erasure.userID)
                AND (\(erasure.scope == .account) OR updated_at <= \(erasure.requestedAt))
            """)
    }

    /// Deletes the hashes of a user's photos, as for ``deleteTemplate(for:)``.
    public func deletePhotoHashes(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_photo_hashes WHERE user_id = \(erasure.userID)
                AND (\(erasure.scope == .account) OR created_at <= \(erasure.requestedAt))
            """)
    }
}
