internal import ArgumentParser
internal import CommandLineSupport

/// Lists the state of the streams and their groups.
struct StreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "List the streams: backlog, age, consumers, retries and dead letters.",
        discussion: """
            One line for each stream and group. undelivered: not delivered to a consumer yet. pending: delivered and not \
            acknowledged. oldest: the age of the oldest of both. retry: failed, with another attempt to come. dead: dead \
            letters (see `dlq list`). A stream without a group is only broadcast. Below: the unfinished messages of the outbox, what is \
            normal, and what to do about what is not. `status` has the same in one line a service.

              heliographctl streams
              heliographctl streams --watch
              heliographctl streams --json | jq '.streams[] | select(.dead > 0)'
            """
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var live: LiveOptions

    @Flag(name: .long, help: "Print JSON; with --watch, one document on each line.")
    var json = false

    @Flag(name: .long, help: "Refresh the list every --interval.")
    var watch = false

    mutating func validate() throws {
        guard watch || live.isDefault else { throw ValidationError("--interval and --count belong to --watch.") }
    }

    func run() async throws {
        try await servers.withServers { transport, postgres in
            let console = Console.current
            guard watch else {
                let report = StreamsReport(snapshot: try await BusSnapshot(transport, postgres))
                return try console.show(report, asJSON: json)
            }
            try await live.view(canDraw: !json).run {
                StreamsReport(snapshot: try await BusSnapshot(transport, postgres))
            } render: { report, size in
                if json { return [try JSONOutput.text(report, isPretty: false)] }
                let heading: [PrintableText] = size == nil ? [] : [console.style.apply(.faint, to: "q quits"), ""]
                return heading + report.lines(console.style, width: size?.columns)
            }
        }
    }
}
