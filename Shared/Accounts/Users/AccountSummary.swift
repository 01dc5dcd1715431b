public import FoundationEssentials
public import PostgresClient

/// The view of an account for its owner and for operators, with the numbers of things that belong to it.
public struct AccountSummary: Sendable, Equatable {
    /// The account.
    public let id: UUID
    /// When it was created.
    public let createdAt: Date
    /// The name that other users see, sealed with `SealingContext.displayName`; `nil` when none is set.
    public let displayNameSealed: [UInt8]?
    /// When its first face was enrolled; `nil` without one.
    public let faceEnrolledAt: Date?
    /// The network that made the template of its face; `nil` without one.
    public let faceModel: String?
    /// When its face was enrolled or last replaced; `nil` without one.
    public let faceAt: Date?
    /// The number of devices on which it is signed in.
    public let signIns: Int
    /// The number of its installations.
    public let installs: Int
    /// The number of topics of which it is a member.
    public let topics: Int
    /// The identity providers by which its owner signs in, as issuers.
    public let identityProviders: [String]
    /// When all of its sign-ins were ended last.
    public let signInsEndedAt: Date?
    /// The e-mail, sealed with `SealingContext.email`; `nil` when the account has none.
    public let emailSealed: [UInt8]?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        createdAt = try row.decode("created_at")
        displayNameSealed = try row.decode("display_name_sealed")
        faceEnrolledAt = try row.decode("face_enrolled_at")
        faceModel = try row.decode("face_model")
        faceAt = try row.decode("face_at")
        signIns = try row.decode("sign_ins")
        installs = try row.decode("installs")
        topics = try row.decode("topics")
        identityProviders = try row.decode("identity_providers")
        signInsEndedAt = try row.decode("sign_ins_ended_at")
        emailSealed = try row.decode("email_sealed")
    }
}

extension UserRepository {
    /// Returns an account with what belongs to it, in numbers, if there is one.
    public func summary(id: UUID) async throws(PostgresError) -> AccountSummary? {
        let query: PostgresQuery = """
            SELECT u.id, u.created_at, u.sign_ins_ended_at, u.email_sealed, u.display_name_sealed,
                f.created_at AS face_enrolled_at, f.model_id AS face_model, f.updated_at AS face_at,
                (SELECT count(*) FROM access_tokens t
                 WHERE t.user_id = u.id AND t.revoked_at IS NULL AND t.refresh_expires_at > now()) AS sign_ins,
                (SELECT count(*) FROM push_installs p WHERE p.user_id = u.id) AS installs,
                (SELECT count(*) FROM topic_members m WHERE m.user_id = u.id) AS topics,
                ARRAY(SELECT DISTINCT i.issuer FROM identities i WHERE i.user_id = u.id ORDER BY i.issuer) AS identity_providers
            FROM users u LEFT JOIN face_templates f ON f.user_id = u.id WHERE u.id = \(id)
            """
        return try await db.query(query.readOnly()).first.map(AccountSummary.init(row:))
    }
}
