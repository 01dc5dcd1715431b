internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import Foundation
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Requests the deletion of a user's push data.
struct PushEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Have a user's push tokens, audit and unsent notifications deleted.",
        discussion: """
            Writes the request into the outbox, from which it reaches token-registry as soon as that runs. An app on which the \
            user is still signed in registers again with its next refresh: sign the user out first if that is not wanted.

              heliographctl push erase --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --yes
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("The user's id.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID

    @Flag(name: .long, help: "Really do it.")
    var yes = false

    func run() async throws {
        try await database.withDatabase { client in
            let installs = try await PushInstallRepository(client).find(userIDs: [user])
            guard yes else {
                Console.current.result("would erase \(user.wireString): \(installs.count) installations")
                Console.current.note("Nothing was changed: add --yes to do it.")
                return
            }
            try await OutboxRepository(client).publish(UserErased(userID: user))
            Console.current.result("asked to erase \(user.wireString): \(installs.count) installations")
        }
    }
}
