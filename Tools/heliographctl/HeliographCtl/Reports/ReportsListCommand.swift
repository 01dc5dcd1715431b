internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import WireFormat

/// Lists reports.
struct ReportsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List open reports, the oldest first.",
        discussion: """
              heliographctl reports list
              heliographctl reports list --state closed --json | jq -r '.[] | .subject_id' | sort | uniq -c
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "open or closed.", transform: Self.state)
    var state = AbuseReport.State.open

    @OptionGroup var limit: LimitOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        try await database.withDatabase { client in
            let reports = try await limit.read { try await AbuseReportRepository(client).list(state, limit: $0) }
            let console = Console.current
            guard !json else { return console.result(try JSONOutput.text(reports.map { $0.json() })) }
            var table = Table(["ID", "AT", "REASON", "ABOUT", "SUBJECT", "TEXT"])
            for report in reports {
                table.add([
                    .init(report.id.wireString), .init(HumanUnits.timestamp(report.createdAt)), .init(report.reason.rawValue),
                    .init(report.subjectType), .init(report.subjectID), .init(report.textSealed == nil ? "no" : "yes"),
                ])
            }
            table.lines(console.style).forEach(console.result)
        }
    }

    private static func state(_ text: String) throws -> AbuseReport.State {
        guard let state = AbuseReport.State(rawValue: text) else { throw ValidationError("--state is open or closed.") }
        return state
    }
}
