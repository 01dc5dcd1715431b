internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import WireFormat

/// Lists dead letters.
struct DlqListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List dead letters, the oldest of each group first.",
        discussion: """
              heliographctl dlq list
              heliographctl dlq list notification.requested --reason crashes
              heliographctl dlq list --json | jq -r '.[] | [.stream, .id, .error] | @tsv'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "Only those of this stream.")
    var stream: String?

    @Option(name: .long, help: "Only those with this reason: unreadable, failures or crashes.", transform: DeadLetterReader.reason)
    var reason: DeadLetterReason?

    @Option(name: .long, help: ArgumentHelp("The maximum number to print.", valueName: "number"))
    var limit = 100

    @Flag(name: .long, help: "Print JSON, with all fields of each.")
    var json = false

    mutating func validate() throws {
        if let stream { try DeadLetterReader.check(stream: stream) }
        guard limit > 0 else { throw ValidationError("--limit is 1 or more.") }
    }

    func run() async throws {
        try await database.withDatabase { postgres in
            var found: [DeadLetter] = []
            var isCut = false
            try await DeadLetterReader(postgres, stream: stream).forEach(reason: reason) { letter in
                isCut = found.count == limit
                if !isCut { found.append(letter) }
                return !isCut
            }
            let console = Console.current
            if json {
                console.result(try JSONOutput.text(found.map(DeadLetterReport.init)))
            } else if !found.isEmpty {
                Self.table(found, now: Date()).lines(console.style).forEach(console.result)
            }
            if isCut { console.note("There are more: --limit \(limit * 10) shows them.") }
            if found.isEmpty { console.note("There are no dead letters\(reason == nil ? "" : " with this reason").") }
        }
    }

    /// Characters of an error that a line of the list shows.
    private static let errorWidth = 60

    static func table(_ letters: [DeadLetter], now: Date) -> Table {
        var table = Table(["STREAM", "ID", .right("AGE"), "REASON", .right("FAILURES"), .right("CRASHES"), "TYPE", "ERROR"])
        for letter in letters {
            let error = letter.error.count > errorWidth ? letter.error.prefix(errorWidth - 1) + "…" : letter.error[...]
            table.add([
                .init(letter.group.stream), .init(letter.id.wireString),
                .init(HumanUnits.age(.seconds(now.timeIntervalSince(letter.deadLetteredAt)))),
                .init(letter.reason.rawValue), .count(letter.failures), .count(letter.crashes),
                letter.envelope.map { .init($0.type.rawValue) } ?? .nothing, .init(String(error)),
            ])
        }
        return table
    }
}
