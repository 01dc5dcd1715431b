internal import ArgumentParser

/// Lists how the streams and their groups stand.
struct StreamsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "List the streams: what waits, how long, who reads, what failed.",
        discussion: """
            A line a stream and group. undelivered: nobody was given it yet. pending: a consumer has it. oldest: how long \
            the oldest of both has waited. retry: failed, and will be tried again. dead: given up (see `dlq list`). A \
            stream without a group is only broadcast. Below: what committed transactions still owe to the streams.

              heliographctl streams
              heliographctl streams --watch
              heliographctl streams --json | jq '.streams[] | select(.dead > 0)'
            """
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var live: LiveOptions

    @Flag(name: .long, help: "Print JSON; with --watch, a document a line.")
    var json = false

    @Flag(name: .long, help: "Go on looking, every --interval.")
    var watch = false

    mutating func validate() throws {
        guard watch || live.isDefault else { throw ValidationError("--interval and --count belong to --watch.") }
    }

    mutating func run() async throws {
        let (json, watch, live) = (json, watch, live)
        try await servers.withServers { transport, postgres in
            let console = Console.current
            guard watch else {
                let report = StreamsReport(snapshot: try await BusSnapshot(transport, postgres))
                let lines = json ? [try JSON.text(report)] : report.lines(console.style)
                return lines.forEach(console.result)
            }
            try await live.view(canDraw: !json).run {
                StreamsReport(snapshot: try await BusSnapshot(transport, postgres))
            } render: { report, size in
                if json { return [try JSON.text(report, isPretty: false)] }
                let heading = size == nil ? [] : [console.style.apply(.faint, to: "q quits"), ""]
                return heading + report.lines(console.style, width: size?.columns)
            }
        }
    }
}
