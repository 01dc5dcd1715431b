import ArgumentParser
import BuildVersion
import Foundation
import Logging

/// Measures Heliograph, and in the same run a physical limit or a peer to compare it with.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph-bench",
        abstract: "Print one JSON line a figure, each beside a reference measured in the same run.",
        discussion: "An absolute time means nothing on a shared machine: look at the ratio and at its bar.",
        version: HeliographVersion.current)

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case postgres
        case bus
        case face
        case search
        case images
        case system
        case jobs
        case push
        case auth
        case instructions
    }

    @Argument(
        help: """
            What to measure: \(Part.allCases.map(\.rawValue).joined(separator: ", ")); all but instructions, which needs valgrind, when \
            nothing is said.
            """)
    var parts: [Part] = []

    @Option(help: "A file of earlier lines, as a JSON array: prints each figure beside it on stderr.")
    var baseline: String?

    @Option(help: "A file of lines to compare with --baseline, such as .build/faults.jsonl; nothing is measured.")
    var figures: String?

    @Option(help: "With instructions: a folder that exists, for the profiles that callgrind_annotate reads.")
    var profiles: String?

    @Option(help: .hidden)
    var busRound: String?

    func validate() throws {
        guard figures == nil || baseline != nil && parts.isEmpty else {
            throw ValidationError("--figures needs --baseline, and measures no part.")
        }
    }

    func run() async throws {
        let baseline = try baseline.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        if let figures {
            let lines = try String(contentsOfFile: figures, encoding: .utf8).split(separator: "\n").map(String.init)
            return print(try Comparison(of: lines, with: baseline ?? Data()).text)
        }
        // Libraries in this process log to stderr, which is not parsed; below `error` they only repeat the message of a failure.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        if let busRound { return try await runBusRound(busRound) }
        var lines: [String] = []
        var missed: [String] = []
        var failed: [String] = []
        for part in parts.isEmpty ? Part.allCases.filter({ $0 != .instructions }) : parts {
            Self.report("measuring \(part.rawValue) …")
            do {
                for figure in try await measure(part) {
                    // Written unbuffered, so that an interrupted run has printed the figures of its finished parts.
                    FileHandle.standardOutput.write(Data("\(figure.line)\n".utf8))
                    lines.append(figure.line)
                    if !figure.ok { missed.append(figure.name) }
                }
            } catch {
                Self.report("\(part.rawValue) failed: \(error)")
                failed.append(part.rawValue)
            }
        }
        if let baseline { Self.report(try Comparison(of: lines, with: baseline).text) }
        if !missed.isEmpty { Self.report("below the bar: \(missed.joined(separator: ", "))") }
        if !failed.isEmpty { Self.report("not measured, by an error: \(failed.joined(separator: ", "))") }
        guard missed.isEmpty, failed.isEmpty else { throw ExitCode.failure }
    }

    /// Writes a line about the run to stderr.
    private static func report(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

    private func measure(_ part: Part) async throws -> [Figure] {
        switch part {
        case .postgres: try await benchmarkPostgres()
        case .bus: try await benchmarkBus()
        case .face: try await benchmarkFace()
        case .search: try await benchmarkFaceSearch()
        case .images: try await benchmarkImages()
        case .system: try await benchmarkSystem()
        case .jobs: try await benchmarkJobs()
        case .push: try await benchmarkPush()
        case .auth: try await benchmarkAuth()
        case .instructions: try await benchmarkInstructions(profiles: profiles) + benchmarkPushInstructions(profiles: profiles)
        }
    }
}
