internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// Closes a report.
struct ReportsCloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "Close a report that was dealt with; it is deleted 180 days after it was made.",
        discussion: """
              heliographctl reports close 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the report.", transform: UUID.argument)
    var id: UUID

    func run() async throws {
        try await options.recording(.reportClosed, object: id) { transaction in
            guard try await AbuseReportRepository(transaction).close(id: id) else {
                Console.current.note("There is no open report \(id.wireString).")
                throw ExitCode.nothingFound
            }
        }
        Console.current.result("closed \(id.wireString)")
    }
}
