public import FoundationEssentials
public import PostgresClient
internal import Push

/// Deletes what identity-api keeps of a user. Every call deletes one bounded slice; the caller repeats it until it returns 0.
public struct AccountErasureRepository: Sendable {
    /// The tables whose rows are deleted without further steps, with the condition that selects the rows of the user `$1`.
    ///
    /// `conversation_messages` keep no text; the numbers of a conversation's other messages stay. Mails to an address stay, because
    /// requests of others for the same address share them.
    public static let tables: [(name: String, condition: String)] = [
        ("access_tokens", "user_id = $1"), ("identities", "user_id = $1"), ("email_lookups", "user_id = $1"),
        (
            "code_mails",
            """
            id IN (SELECT m.id FROM email_verifications v JOIN code_mails m ON m.email_lookups && v.email_lookups
                   WHERE v.account_id = $1 AND NOT EXISTS (
                       SELECT FROM email_verifications o WHERE o.email_lookups && m.email_lookups AND o.account_id <> $1))
            """
        ),
        ("email_verifications", "account_id = $1"),
        ("pending_enrolments", "user_id = $1"), ("consents", "user_id = $1"), ("account_exports", "user_id = $1"),
        ("idempotency_keys", "user_id = $1"), ("user_blocks", "$1 IN (user_id, blocked_id)"),
        ("user_contacts", "$1 IN (user_id, contact_id)"), ("push_presence", "user_id = $1"),
        ("topic_leavers", "user_id = $1"), ("topic_invitations", "$1 IN (user_id, inviter_id)"),
        ("topic_invitation_log", "$1 IN (user_id, inviter_id)"), ("conversation_messages", "sender_id = $1"),
        ("reports", "reporter_id = $1 OR (subject_type = 'user' AND subject_id = ($1::uuid)::text)"),
        ("notification_receipts", "user_id = $1"),
    ]
    /// The maximum number of rows of a slice.
    public static let sliceSize = 1_000

    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db.withTimeLimit(Erasure.statementTimeout)
    }

    /// Deletes at most ``sliceSize`` rows of one of ``tables``.
    ///
    /// - Returns: The number of deleted rows.
    public func deleteSlice(of table: (name: String, condition: String), userID: UUID) async throws(PostgresError) -> Int {
        var query = PostgresQuery(
            unescaped: """
                DELETE FROM \(table.name) WHERE ctid = ANY(ARRAY(
                    SELECT ctid FROM \(table.name) WHERE \(table.condition) LIMIT \(Self.sliceSize)))
                """)
        query.bind(userID)
        return try await db.execute(query)
    }

    /// Returns the next sessions of a user, at most `limit`, whose photos are deleted before their rows: for the erasure of a face, the
    /// sessions that had begun before the request, and their retakes. They include sign-ins with the e-mail before it had the account;
    /// the user of such a session is an attempt key.
    public func sessions(for erasure: Erasure, after last: UUID?, limit: Int) async throws(PostgresError) -> [UUID] {
        try await db.query(
            """
            SELECT id FROM sessions
            WHERE ((user_id = \(erasure.userID) AND (\(erasure.scope == .account)
                       OR coalesce((SELECT f.created_at FROM sessions f WHERE f.id = sessions.series_id), created_at)
                          <= \(erasure.requestedAt)))
                   OR (user_id = ANY(\(erasure.attemptKeys)) AND created_at <= \(erasure.requestedAt)))
                AND (\(last)::uuid IS NULL OR id > \(last)::uuid)
            ORDER BY id LIMIT \(limit)
            """
        ).column("id")
    }

    /// Deletes sessions that ``sessions(for:after:limit:)`` has returned, and the installations that were uploaded with them and that
    /// nothing else needs. Call in a transaction.
    ///
    /// - Returns: The number of deleted sessions.
    public func deleteSessions(_ ids: [UUID]) async throws(PostgresError) -> Int {
        let rows = try await db.query("DELETE FROM sessions WHERE id = ANY(\(ids)) RETURNING install_id")
        let uploaded = try rows.column("install_id", as: UUID?.self).compactMap { $0 }
        try await PushInstallRepository(db).deleteUnneeded(ids: uploaded)
        return rows.count
    }

    /// Deletes the answers to sign-ins with the e-mail of the account that are older than the request.
    public func deleteSignInAnswers(for erasure: Erasure) async throws(PostgresError) -> Int {
        try await db.execute(
            "DELETE FROM idempotency_keys WHERE user_id = ANY(\(erasure.attemptKeys)) AND created_at <= \(erasure.requestedAt)")
    }

    /// Deletes faces of a user that wait for a proof or for the end of a recovery.
    public func deletePendingFaces(of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute("DELETE FROM pending_enrolments WHERE user_id = \(userID)")
    }

    /// Removes the user's id from what others keep: reports of their messages. The rows stay, so that no receipt counts them.
    public func forgetSender(_ userID: UUID) async throws(PostgresError) {
        try await db.execute("UPDATE reports SET sender_id = NULL WHERE sender_id = \(userID)")
    }
}
