public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension ErasureRepository {
    /// Returns whether rows name the user that no deletion of the account would take along: a request that was authenticated before the
    /// erasure began has added them since its service reported. The row of the account is locked: no more can be added that refer to it.
    public func hasRemains(of erasure: Erasure) async throws(PostgresError) -> Bool {
        let (userID, name) = (erasure.userID, erasure.userID.wireString)
        guard erasure.scope == .account else {
            let faces: PostgresQuery = """
                SELECT FROM face_templates WHERE user_id = \(userID) AND updated_at <= \(erasure.requestedAt)
                """
            return try await !db.query(faces).isEmpty
        }
        try await db.execute("SELECT FROM users WHERE id = \(userID) FOR UPDATE")
        var ownTables = PostgresQuery(
            unescaped: AccountErasureRepository.tables.map { "SELECT FROM \($0.name) WHERE \($0.condition)" }
                .joined(separator: " UNION ALL ") + " LIMIT 1")
        ownTables.bind(userID)
        guard try await db.query(ownTables).isEmpty else { return true }
        let rows = try await db.query(
            """
            SELECT EXISTS (SELECT FROM sessions WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM face_duplicates WHERE user_id = \(userID) OR other_id = \(userID))
                OR EXISTS (SELECT FROM image_jobs WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM image_calls WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM image_costs WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM topic_photos WHERE uploader_id = \(userID))
                OR EXISTS (SELECT FROM topic_members WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM notifications WHERE recipient_type = 'user' AND recipient_id = \(name))
                OR EXISTS (SELECT FROM outbox WHERE state IN ('waiting', 'published')
                           AND (key = \(name) OR position(convert_to(\(name), 'UTF8') IN body) > 0)) AS remains
            """)
        return try rows.required().decode("remains")
    }

    /// Completes an erasure: replaces the user's ids in the audit log by the erasure's id, and deletes the user's messages from the outbox
    /// and the dead letters, and the account itself. No message that names the user is open any more (``hasRemains(of:)``), so no such
    /// message becomes a dead letter afterwards. Call in the transaction that has locked it.
    ///
    /// - Returns: The numbers of deleted rows by table. Entries of the audit log stay, under another id.
    public func complete(_ erasure: Erasure) async throws(PostgresError) -> [String: Int] {
        guard erasure.scope == .account else { return [:] }
        let name = erasure.userID.wireString
        try await db.execute("SELECT audit_log_pseudonymise(\(erasure.id))")
        return [
            "outbox": try await db.execute(
                """
                DELETE FROM outbox
                WHERE settled_at IS NOT NULL AND (key = \(name) OR position(convert_to(\(name), 'UTF8') IN body) > 0)
                """),
            "dead_letters": try await db.execute(
                """
                DELETE FROM dead_letters
                WHERE position(\(name) IN error) > 0
                   OR EXISTS (SELECT FROM unnest(fields) AS field WHERE position(convert_to(\(name), 'UTF8') IN field) > 0)
                """),
            "users": try await db.execute("DELETE FROM users WHERE id = \(erasure.userID) AND state = 'erasing'"),
        ]
    }

    /// Returns at most `limit` receipts in the order of their erasures' ids.
    ///
    /// - Parameter id: The last id of the page before; nil to begin.
    public func receipts(after id: UUID?, limit: Int) async throws(PostgresError) -> [(id: UUID, receipt: String)] {
        try await db.query(
            """
            SELECT id, receipt FROM erasures WHERE receipt IS NOT NULL AND id > \(id ?? SealedValueRepository.first)
            ORDER BY id LIMIT \(limit)
            """
        ).map { row throws(PostgresError) in (try row.decode("id"), try row.decode("receipt")) }
    }

    /// Replaces a receipt by the same one with another signature.
    ///
    /// - Returns: Whether it was replaced.
    public func replace(receipt: String, of id: UUID, by new: String) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE erasures SET receipt = \(new) WHERE id = \(id) AND receipt = \(receipt)") == 1
    }

    /// Counts the receipts whose text begins with the given text.
    public func countReceipts(beginningWith header: String) async throws(PostgresError) -> Int {
        let count: Int64 = try await db.query(
            "SELECT count(*)::bigint AS n FROM erasures WHERE starts_with(receipt, \(header))"
        ).required().decode("n")
        return Int(count)
    }

    /// Stores the receipt and forgets the user.
    public func store(receipt: String, of erasure: UUID, at time: Date) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE erasures SET receipt = \(receipt), completed_at = \(time), user_id = NULL, attempt_keys = '{}'
            WHERE id = \(erasure) AND completed_at IS NULL
            """)
    }
}
