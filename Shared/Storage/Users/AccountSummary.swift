public import FoundationEssentials
public import PostgresClient

/// What an operator sees of an account.
public struct AccountSummary: Sendable, Equatable {
    /// The account.
    public let id: UUID
    /// When it was created.
    public let createdAt: Date
    /// When its face was enrolled or last replaced; `nil` without one.
    public let faceAt: Date?
    /// The number of devices on which it is signed in.
    public let signIns: Int
    /// The number of its installations.
    public let installs: Int
    /// When all of its sign-ins were ended last.
    public let signInsEndedAt: Date?
    /// The keyed hash of the e-mail, which its sealed form is bound to; `nil` when the account has no e-mail.
    public let emailLookup: [UInt8]?
    /// The e-mail, sealed with `SealingContext.email`.
    public let emailSealed: [UInt8]?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        createdAt = try row.decode("created_at")
        faceAt = try row.decode("face_at")
        signIns = try row.decode("sign_ins")
        installs = try row.decode("installs")
        signInsEndedAt = try row.decode("sign_ins_ended_at")
        emailLookup = try row.decode("email_lookup")
        emailSealed = try row.decode("email_sealed")
    }
}

extension UserRepository {
    /// Returns what an operator sees of an account, if there is one.
    public func summary(id: UUID) async throws(PostgresError) -> AccountSummary? {
        let query: PostgresQuery = """
            SELECT u.id, u.created_at, u.sign_ins_ended_at, u.email_lookup, u.email_sealed,
                (SELECT f.updated_at FROM face_templates f WHERE f.user_id = u.id) AS face_at,
                (SELECT count(*) FROM access_tokens t
                 WHERE t.user_id = u.id AND t.revoked_at IS NULL AND t.refresh_expires_at > now()) AS sign_ins,
                (SELECT count(*) FROM push_installs p WHERE p.user_id = u.id) AS installs
            FROM users u WHERE u.id = \(id)
            """
        return try await db.query(query.readOnly()).first.map(AccountSummary.init(row:))
    }
}
