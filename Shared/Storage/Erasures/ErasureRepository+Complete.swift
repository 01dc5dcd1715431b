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
        let rows = try await db.query(
            """
            SELECT EXISTS (SELECT FROM sessions WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM image_jobs WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM topic_photos WHERE uploader_id = \(userID))
                OR EXISTS (SELECT FROM topic_members WHERE user_id = \(userID))
                OR EXISTS (SELECT FROM notifications WHERE recipient_type = 'user' AND recipient_id = \(name))
                OR EXISTS (SELECT FROM outbox WHERE state IN ('waiting', 'published')
                           AND (key = \(name) OR position(convert_to(\(name), 'UTF8') IN body) > 0)) AS remains
            """)
        return try rows.required().decode("remains")
    }

    /// Completes an erasure: replaces the user's ids in the audit log by that of the erasure, deletes what the outbox keeps of the user and
    /// the account itself. Call in the transaction that has locked it.
    ///
    /// - Returns: The numbers by table.
    public func complete(_ erasure: Erasure) async throws(PostgresError) -> [String: Int] {
        guard erasure.scope == .account else { return [:] }
        let name = erasure.userID.wireString
        let rows = try await db.query("SELECT audit_log_pseudonymise(\(erasure.id)) AS changed")
        return [
            "audit_log": try rows.required().decode("changed"),
            "outbox": try await db.execute(
                """
                DELETE FROM outbox
                WHERE settled_at IS NOT NULL AND (key = \(name) OR position(convert_to(\(name), 'UTF8') IN body) > 0)
                """),
            "users": try await db.execute("DELETE FROM users WHERE id = \(erasure.userID) AND state = 'erasing'"),
        ]
    }

    /// Stores the receipt and forgets the user.
    public func store(receipt: String, of erasure: UUID, at time: Date) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE erasures SET receipt = \(receipt), completed_at = \(time), user_id = NULL
            WHERE id = \(erasure) AND completed_at IS NULL
            """)
    }
}
