public import FoundationEssentials
internal import PostgresClient

/// A person: a row of `users`.
public struct User: Sendable, Equatable {
    /// Random, or derived from the e-mail by the caller; stable for life.
    public let id: UUID
    /// HMAC-SHA256 of the normalised e-mail; 32 bytes.
    public let emailLookup: [UInt8]
    /// The e-mail, sealed with `SealingContext.email`.
    public let emailSealed: [UInt8]
    /// The name that other users see, sealed with `SealingContext.displayName`; `nil` when none is set.
    public let displayNameSealed: [UInt8]?
    /// When the account was created.
    public let createdAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        emailLookup = try row.decode("email_lookup")
        emailSealed = try row.decode("email_sealed")
        displayNameSealed = try row.decode("display_name_sealed")
        createdAt = try row.decode("created_at")
    }
}
