import ArgumentParser
import Foundation

/// Measures Heliograph against the physical limit or a peer, in the same run.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph-bench",
        abstract: "Print one JSON line a figure, each beside a reference measured in the same run.",
        discussion: "An absolute time means nothing on a shared machine: look at the ratio and at its bar.")

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case postgres
        case bus
        case face
        case images
        case system
        case jobs
        case push
    }

    @Argument(help: "What to measure: \(Part.allCases.map(\.rawValue).joined(separator: ", ")); all when nothing is said.")
    var parts: [Part] = []

    mutating func run() async throws {
        var missed: [String] = []
        for part in parts.isEmpty ? Part.allCases : parts {
            FileHandle.standardError.write(Data("measuring \(part.rawValue) …\n".utf8))
            for figure in try await figures(of: part) {
                print(figure.line)
                if !figure.ok { missed.append(figure.name) }
            }
        }
        guard missed.isEmpty else {
            FileHandle.standardError.write(Data("below the bar: \(missed.joined(separator: ", "))\n".utf8))
            throw ExitCode.failure
        }
    }

    private func figures(of part: Part) async throws -> [Figure] {
        switch part {
        case .postgres: try await benchmarkPostgres()
        case .bus: try await benchmarkBus()
        case .face: try await benchmarkFace()
        case .images: try await benchmarkImages()
        case .system: try await benchmarkSystem()
        case .jobs: try await benchmarkJobs()
        case .push: try await benchmarkPush()
        }
    }
}
