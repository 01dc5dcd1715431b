public import FoundationEssentials
internal import PostgresClient

/// A person as an identity provider knows them: a row of `identities`, as a request needs it.
public struct FederatedIdentity: Sendable, Equatable {
    /// The person's account.
    public let userID: UUID
    /// Sign-ins with the provider before this time are revoked; `nil` without a revocation.
    public let validAfter: Date?
    /// Whether the installation of the request is registered to the account.
    public let hasInstallation: Bool

    init(row: PostgresRow) throws(PostgresError) {
        userID = try row.decode("user_id")
        validAfter = try row.decode("valid_after")
        hasInstallation = try row.decode("has_installation")
    }

    /// Whether tokens of a sign-in at that time are accepted.
    public func accepts(signInAt time: Date) -> Bool { validAfter.map { time >= $0 } ?? true }
}
