public import FoundationEssentials
public import PostgresClient

/// Adds to and reads `consents`.
public struct ConsentRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores the consent that came with the photos of a session. Call in the transaction in which the face takes effect; a repetition
    /// changes nothing.
    public func record(_ consent: Consent, of userID: UUID, session id: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO consents (id, user_id, version, text_hash, given_at)
            VALUES (\(id), \(userID), \(consent.text.version), \(consent.text.hash), \(consent.givenAt))
            ON CONFLICT (id) DO NOTHING
            """)
    }

    /// Returns the newest consent of a user; `nil` when the user has given no consent so far.
    public func latest(of userID: UUID) async throws(PostgresError) -> Consent? {
        let query: PostgresQuery = "SELECT * FROM consents WHERE user_id = \(userID) ORDER BY given_at DESC, id LIMIT 1"
        return try await db.query(query.readOnly()).first.map(Consent.init(row:))
    }
}
