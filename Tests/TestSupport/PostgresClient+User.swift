public import Accounts
public import FoundationEssentials
public import PostgresClient

extension PostgresClient {
    /// Creates the account of an e-mail, without its verification, unless there is one.
    ///
    /// - Parameter emailLookup: A lookup of the e-mail, or 32 bytes in place of its hash.
    /// - Returns: The account.
    public func makeUser(id: UUID = UUID(), emailLookup: [UInt8], emailSealed: [UInt8] = [1]) async throws -> User {
        let lookup = TestLookup.of(emailLookup)
        try await execute(
            """
            WITH made AS (
                INSERT INTO users (id, email_sealed)
                SELECT \(id), \(emailSealed) WHERE NOT EXISTS (SELECT FROM email_lookups WHERE lookup = \(lookup)) RETURNING id)
            INSERT INTO email_lookups (lookup, user_id) SELECT \(lookup), id FROM made
            """)
        guard let user = try await UserRepository(self).find(emailLookup: emailLookup) else {
            throw PostgresError(code: .decoding, message: "the account of a test is missing")
        }
        return user
    }
}
