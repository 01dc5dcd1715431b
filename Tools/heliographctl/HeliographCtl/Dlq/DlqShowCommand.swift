internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus

/// Shows all fields of a dead letter.
struct DlqShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show every field of a dead letter, and its body.",
        discussion: """
            Bodies carry ids, never pictures or tokens.

              heliographctl dlq show notification.requested 1763731805123-0
            """
    )

    @OptionGroup var redis: RedisOptions

    @Argument(help: "The stream it was in.")
    var stream: String

    @Argument(help: "Its ID in `dlq list`.", transform: DeadLetterReader.id)
    var id: EntryID

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws { try DeadLetterReader.check(stream: stream) }

    func run() async throws {
        try await redis.withTransport { transport in
            let found = try await DeadLetterReader(transport, stream: stream).find(id).map(DeadLetterReport.init)
            let console = Console.current
            guard !found.isEmpty else {
                console.note("\(stream) has no dead letter \(id): `heliographctl dlq list \(stream)` shows those it has.")
                throw ExitCode.nothingFound
            }
            for report in found { try console.show(report, asJSON: json) }
        }
    }
}
