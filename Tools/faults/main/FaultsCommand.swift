import ArgumentParser
import BuildVersion
import FaultMatrix
import Foundation
import TestSupport

/// Runs the rows of the fault matrix and prints their reports.
@main
struct FaultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph-faults",
        abstract: "Run the fault matrix on real processes and servers, and print what was lost and what was done twice.",
        discussion: """
            Ends with 1 when a row lost an effect, took one twice, or missed another of its expectations. REDIS_SERVER names another \
            server than redis-server, such as that of Valkey.
            """, version: HeliographVersion.current)

    @Option(help: "Rows to run, such as F1,F7; all when nothing is said.")
    var only = ""

    @Flag(help: "The rows of a Redis Cluster of three masters, with its own faults.")
    var cluster = false

    @Flag(help: "Once each and small, as in `make test`.")
    var short = false

    @Option(help: "A file to write one line of JSON a row to.")
    var json: String?

    mutating func run() async throws {
        var reports: [FaultReport] = []
        for row in try await rows() {
            say("\(row.id) \(row.title) …")
            let report = await row.run(short ? .short : .full)
            say(report.summary)
            reports.append(report)
            try write(reports)
        }
        print(FaultReport.table(reports))
        guard reports.allSatisfy(\.passed) else { throw ExitCode.failure }
    }

    private func rows() async throws -> [FaultRow] {
        let all = cluster ? FaultRow.cluster(isValkey: try await RedisServer.isValkey) : FaultRow.all
        let names = only.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if names.isEmpty { return all }
        return try names.map { name in
            guard let row = all.first(where: { $0.id.uppercased() == name.uppercased() }) else {
                throw ValidationError("no row \(name); there are \(all.map(\.id).joined(separator: ", "))")
            }
            return row
        }
    }

    private func write(_ reports: [FaultReport]) throws {
        guard let json else { return }
        let text = reports.map { $0.line + "\n" }.joined()
        try text.write(toFile: json, atomically: true, encoding: .utf8)
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
