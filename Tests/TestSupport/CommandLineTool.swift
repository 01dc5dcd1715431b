package import Foundation

/// Runs a command line program to its end and returns its output.
public enum CommandLineTool {
    /// Thrown when the program ended with another code than 0; carries its output.
    public struct Failure: Error, CustomStringConvertible {
        /// The program and its arguments.
        public let command: [String]
        /// The exit code; 128 plus the signal after a death by signal.
        public let exitCode: Int32
        /// The standard output and standard error, in the order in which they were written.
        public let output: String

        /// The command, the exit code and the output.
        public var description: String {
            "`\(command.joined(separator: " "))` ended with \(exitCode): \(output)"
        }
    }

    /// Runs `command` and returns its standard output and standard error; throws ``Failure`` unless it exits with 0. It dies with a
    /// cancellation.
    ///
    /// The output is collected in a temporary file rather than a pipe, so that a daemon that inherits it cannot keep the call from
    /// returning.
    @discardableResult
    public static func run(_ command: [String], environment: [String: String] = [:]) async throws -> String {
        let folder = FileManager.default.temporaryDirectory
        let output = folder.appendingPathComponent("heliograph-\(UUID().uuidString).out")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)

        let pid = try GuardedProcess.spawn(
            ["/usr/bin/env"] + command, standardInput: .nullDevice, standardOutput: handle, standardError: handle,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        let exitCode = await withTaskCancellationHandler {
            await Self.exitCode(of: pid)
        } onCancel: {
            kill(pid, SIGKILL)
        }
        try handle.close()
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        guard exitCode == 0 else { throw Failure(command: command, exitCode: exitCode, output: text) }
        return text
    }

    /// Waits for a child on a thread of its own, and returns its exit code; 128 plus the signal after a death by signal, as in a
    /// shell.
    ///
    /// Foundation's `Process` sometimes misses the end of a child when dozens of tests run children at the same time.
    package static func exitCode(of pid: pid_t) async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
            }
        }
    }
}
