public import PostgresClient

/// Deletes what face-matching-worker keeps of a user.
public struct FaceErasureRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db.withTimeLimit(Erasure.statementTimeout)
    }

    /// Deletes the face of a user; a face that was enrolled after the request stays when only the face is erased.
    public func deleteTemplate(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_templates WHERE user_id = \(erasure.userID)
                AND (\(erasure.scope == .account) OR updated_at <= \(erasure.requestedAt))
            """)
    }

    /// Deletes the rows that name the user as a duplicate of another account.
    public func deleteDuplicates(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_duplicates WHERE \(erasure.userID) IN (user_id, other_id)
                AND (\(erasure.scope == .account) OR found_at <= \(erasure.requestedAt))
            """)
    }

    /// Deletes the hashes of a user's photos, as for ``deleteTemplate(for:)``; of sign-ins with the e-mail, only hashes older than the
    /// request, because the e-mail may have another account by now.
    public func deletePhotoHashes(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_photo_hashes
            WHERE (user_id = \(erasure.userID) AND (\(erasure.scope == .account) OR created_at <= \(erasure.requestedAt)))
                OR (user_id = ANY(\(erasure.attemptKeys)) AND created_at <= \(erasure.requestedAt))
            """)
    }
}
