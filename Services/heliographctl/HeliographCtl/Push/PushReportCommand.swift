internal import ArgumentParser
internal import FoundationEssentials
internal import Storage

/// Counts what became of pushes, and whether they did their work.
struct PushReportCommand: AsyncParsableCommand {
    /// How long the question may take; it reads every delivery of the span.
    private static let queryTimeout: Duration = .seconds(60)

    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Count deliveries, opens and fetches: by kind, rich and plain, push and poll.",
        discussion: """
            A line a kind of push; rich ones were to have a picture. accepted: FCM took it. dead: the token was. unsent: \
            expired, failed, or not wanted any more. suppressed: the app had it on the screen. delivered, opened and \
            dismissed are what devices tell by POST /v1/notifications/receipts; the open rate is opened of accepted.

            Below: what made apps fetch the outcome of an image job first, as X-Client-Trigger says.

              heliographctl push report
              heliographctl push report --since 7d --json | jq '.kinds[] | {kind, form, open_rate}'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("How far to look back: s, m, h or d, up to 30d.", valueName: "time"))
    var since = Span(seconds: 86_400)

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard since.seconds > 0 else { throw ValidationError("--since is at least 1s.") }
    }

    mutating func run() async throws {
        let (since, json) = (since, json)
        try await database.withDatabase(queryTimeout: Self.queryTimeout) { postgres in
            let start = Date(timeIntervalSinceNow: -Double(since.seconds))
            let receipts = ReceiptRepository(postgres)
            let report = PushReport(
                since: start, figures: try await receipts.figures(since: start),
                firstReads: try await receipts.firstReads(since: start))
            let console = Console.current
            let lines = json ? [try JSON.text(report)] : report.lines(console.style)
            lines.forEach(console.result)
        }
    }
}
