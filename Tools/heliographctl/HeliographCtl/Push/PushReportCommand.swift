internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import Push

/// Counts the outcomes of pushes and their effect on apps.
struct PushReportCommand: AsyncParsableCommand {
    /// Timeout of the query; it reads every delivery of the period.
    private static let queryTimeout: Duration = .seconds(60)

    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Count deliveries, opens and fetches: by kind, rich and plain, push and poll.",
        discussion: """
            One line for each kind of push; rich ones were to have a picture. accepted: FCM accepted it. dead: the token was \
            invalid. unsent: expired, failed, or not wanted any more. suppressed: the app had it on the screen. delivered, \
            opened and dismissed are reported by devices with POST /v1/notifications/receipts; the open rate is opened of \
            accepted.

            Below: the triggers of the first fetch of an image job's outcome, by X-Client-Trigger.

              heliographctl push report
              heliographctl push report --since 7d --json | jq '.kinds[] | {kind, form, open_rate}'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("The period up to now: s, m, h or d, up to 30d.", valueName: "time"))
    var since = TimeSpan(.seconds(86_400))

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard since.duration >= .seconds(1) else { throw ValidationError("--since is at least 1s.") }
    }

    func run() async throws {
        try await database.withDatabase(queryTimeout: Self.queryTimeout) { postgres in
            let start = Date(timeIntervalSinceNow: -since.duration.seconds)
            let receipts = ReceiptRepository(postgres)
            let report = PushReport(
                since: start, figures: try await receipts.figures(since: start),
                firstReads: try await receipts.firstReads(since: start))
            try Console.current.show(report, asJSON: json)
        }
    }
}
