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

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the credential.", transform: UUID.argument)
    var id: UUID

    func run() async throws {
        try await options.recording(.credentialRevoked, object: id) { transaction in
            guard try await ServiceCredentialRepository(transaction).revoke(id: id) else {
                Console.current.note("There is no credential \(id.wireString) that could be revoked.")
                throw ExitCode.nothingFound
            }
        }
        Console.current.result("revoked \(id.wireString)")
    }
}
