internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
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

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var actingOperator: AuditOptions

    @Argument(help: "The id of the report.", transform: ReportsCommand.reportID)
    var id: UUID

    func run() async throws {
        try await database.withDatabase(queryTimeout: ReportsCommand.queryTimeout) { client in
            let isClosed = try await client.withTransaction { transaction in
                guard try await AbuseReportRepository(transaction).close(id: id) else { return false }
                try await AuditRepository(transaction).append(
                    AuditEntry(.reportClosed, by: actingOperator.actor, on: nil, object: id))
                return true
            }
            guard isClosed else {
                Console.current.note("There is no open report \(id.wireString).")
                throw ExitCode.nothingFound
            }
            Console.current.result("closed \(id.wireString)")
        }
    }
}
