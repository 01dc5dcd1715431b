import Foundation
import TestSupport

/// A program in C that does the same with the native library only.
struct ReferenceProgram {
    let path: String

    /// Compiles a source file of `Tools/bench/Reference` with optimisation.
    init(_ name: String, libraries: [String]) async throws {
        let folder = try PackageRoot.file("Tools/bench/Reference")
        let path = "\(FileManager.default.temporaryDirectory.path)/heliograph-\(name)-\(UUID().uuidString)"
        self.path = path
        try await CommandLineTool.run(
            ["cc", "-O2", "-Wall", "-o", path, "\(folder)/\(name).c"] + libraries.map { "-l\($0)" } + ["-lpthread"])
    }

    /// Runs the program and returns the number that it prints.
    func run(_ arguments: String...) async throws -> Double {
        let output = try await CommandLineTool.run([path] + arguments)
        guard let number = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw DeadlineExceeded(description: "the reference printed no number: \(output)")
        }
        return number
    }

    /// Runs the program and returns the numbers that it prints, one per line.
    func runForNumbers(_ arguments: String...) async throws -> [Double] {
        let output = try await CommandLineTool.run([path] + arguments)
        return try output.split(separator: "\n").map { line in
            guard let number = Double(line) else { throw DeadlineExceeded(description: "the reference printed no number: \(line)") }
            return number
        }
    }

    /// Deletes the compiled program.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
