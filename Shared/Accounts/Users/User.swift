public import FoundationEssentials
internal import PostgresClient

/// A person: a row of `users`.
public struct User: Sendable, Equatable {
    /// Random, stable for life, and never used again for another person.
    public let id: UUID
    /// The proven e-mail; `nil` for an account that another system signs in.
    public let email: SealedEmail?
    /// The name that other users see, sealed with `SealingContext.displayName`; `nil` when none is set.
    public let displayNameSealed: [UInt8]?
    /// When the account was created.
    public let createdAt: Date

    /// The columns that `init(row:)` reads.
    static let columns = """
        id, email_sealed, display_name_sealed, created_at,
        ARRAY(SELECT lookup FROM email_lookups WHERE user_id = users.id) AS email_lookups
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        email = try SealedEmail(row: row)
        displayNameSealed = try row.decode("display_name_sealed")
        createdAt = try row.decode("created_at")
    }
}
