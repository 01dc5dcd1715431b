public import FoundationEssentials
public import PostgresClient
public import Storage

extension PostgresClient {
    /// Creates the account of an e-mail, without its verification, unless there is one.
    ///
    /// - Returns: The account.
    public func makeUser(id: UUID = UUID(), emailLookup: [UInt8], emailSealed: [UInt8] = [1]) async throws -> User {
        try await execute(
            """
            INSERT INTO users (id, email_lookup, email_sealed) VALUES (\(id), \(emailLookup), \(emailSealed))
            ON CONFLICT (email_lookup) DO NOTHING
            """)
        guard let user = try await UserRepository(self).find(emailLookup: emailLookup) else {
            throw PostgresError(code: .decoding, message: "the account of a test is missing")
        }
        return user
    }
}

extension FederatedIdentityRepository {
    /// Creates an account for a person who signs in now, as the other function does.
    public func findOrCreate(
        issuer: String, subjectLookup: [UInt8]
    ) async throws -> (identity: FederatedIdentity, isNew: Bool) {
        guard let found = try await findOrCreate(issuer: issuer, subjectLookup: subjectLookup, signedInAt: Date()) else {
            throw PostgresError(code: .decoding, message: "the account of a test was erased")
        }
        return found
    }
}
