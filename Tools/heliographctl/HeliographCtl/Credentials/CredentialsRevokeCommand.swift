internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import WireFormat

/// Revokes an API key.
struct CredentialsRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke an API key; from then on it is refused.",
        discussion: """
            Takes the id that `credentials list` shows, and cancels the notifications that were requested with the key and are not due
            yet: a stolen key may have scheduled them for weeks. Its topics stay. For a key that is replaced by another one, keep them;
            they can be cancelled later by the same command.

              heliographctl credentials revoke 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
              heliographctl credentials revoke 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --keep-scheduled
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the credential.", transform: UUID.argument)
    var id: UUID

    @Flag(help: "Keep the notifications that were requested with this key and are not due yet.")
    var keepScheduled = false

    func run() async throws {
        let cancelled = try await options.recording(.credentialRevoked, object: id) { transaction in
            let isRevoked = try await ServiceCredentialRepository(transaction).revoke(id: id)
            let cancelled = keepScheduled ? 0 : try await AppNotificationRepository(transaction).cancelAll(by: id)
            guard isRevoked || cancelled > 0 else {
                Console.current.note("There is no credential \(id.wireString) that could be revoked.")
                throw ExitCode.nothingFound
            }
            return cancelled
        }
        Console.current.result("revoked \(id.wireString)" + (keepScheduled ? "" : "; cancelled \(cancelled) scheduled notifications"))
    }
}
