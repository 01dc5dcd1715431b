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
            Takes the id that `credentials list` shows. What the app has made stays: its topics and, unless they are cancelled too,
            notifications that are scheduled. Cancel them when the key was stolen; it can also be done later, for a key that is
            revoked already.

              heliographctl credentials revoke 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --cancel-scheduled
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the credential.", transform: UUID.argument)
    var id: UUID

    @Flag(help: "Cancel the notifications that were requested with this key and are not due yet.")
    var cancelScheduled = false

    func run() async throws {
        let cancelled = try await options.recording(.credentialRevoked, object: id) { transaction in
            let isRevoked = try await ServiceCredentialRepository(transaction).revoke(id: id)
            let cancelled = cancelScheduled ? try await AppNotificationRepository(transaction).cancelAll(by: id) : 0
            guard isRevoked || cancelled > 0 else {
                Console.current.note("There is no credential \(id.wireString) that could be revoked.")
                throw ExitCode.nothingFound
            }
            return cancelled
        }
        Console.current.result("revoked \(id.wireString)" + (cancelScheduled ? "; cancelled \(cancelled) scheduled notifications" : ""))
    }
}
