internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Revokes an API key.
struct CredentialsRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke an API key; from then on it is refused.",
        discussion: """
            Takes the id that `credentials list` shows. What the app has made stays: its topics, and notifications that are scheduled.

              heliographctl credentials revoke 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var actingOperator: AuditOptions

    @Argument(help: "The id of the credential.", transform: Self.credentialID)
    var id: UUID

    func run() async throws {
        try await database.withDatabase(queryTimeout: CredentialsCommand.queryTimeout) { client in
            let isRevoked = try await client.withTransaction { transaction in
                guard try await ServiceCredentialRepository(transaction).revoke(id: id) else { return false }
                try await AuditRepository(transaction).append(
                    AuditEntry(.credentialRevoked, by: actingOperator.actor, on: nil, object: id))
                return true
            }
            guard isRevoked else {
                Console.current.note("There is no credential \(id.wireString) that could be revoked.")
                throw ExitCode.nothingFound
            }
            Console.current.result("revoked \(id.wireString)")
        }
    }

    private static func credentialID(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else { throw ValidationError("The id is a UUID.") }
        return id
    }
}
