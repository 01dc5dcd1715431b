internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// Shows all fields of a dead letter.
struct DlqShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show every field of a dead letter, and its body.",
        discussion: """
            Bodies carry ids, never pictures or tokens.

              heliographctl dlq show notification.requested 019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "The stream it was in.")
    var stream: String

    @Argument(help: "Its ID in `dlq list`.", transform: UUID.argument)
    var id: UUID

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws { try DeadLetterReader.check(stream: stream) }

    func run() async throws {
        try await database.withDatabase { postgres in
            let found = try await DeadLetterRepository(postgres).find(id, in: stream).map(DeadLetterReport.init)
            let console = Console.current
            guard !found.isEmpty else {
                console.note("\(stream) has no dead letter \(id.wireString): `heliographctl dlq list \(stream)` shows those it has.")
                throw ExitCode.nothingFound
            }
            for report in found { try console.show(report, asJSON: json) }
        }
    }
}
