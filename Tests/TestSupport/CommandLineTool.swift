import Foundation

/// Runs a command line program to its end and gives what it printed.
public enum CommandLineTool {
    /// The program ended with another code than 0; carries what it wrote to standard error.
    public struct Failure: Error, CustomStringConvertible {
        public let command: [String]
        public let exitCode: Int32
        public let output: String

        public var description: String {
            "`\(command.joined(separator: " "))` ended with \(exitCode): \(output)"
        }
    }

    /// Runs `command` and returns its standard output; throws ``Failure`` unless it exits with 0.
    ///
    /// The output is collected in temporary files rather than pipes, so that a daemon that inherits them
    /// cannot keep the call from returning.
    @discardableResult
    public static func run(_ command: [String], environment: [String: String] = [:]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory
        let output = folder.appendingPathComponent("heliograph-\(UUID().uuidString).out")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        let exitCode = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        try handle.close()
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        guard exitCode == 0 else { throw Failure(command: command, exitCode: exitCode, output: text) }
        return text
    }
}
