import ArgumentParser
import CommandLineSupport

@testable import HeliographCtl

/// The output and the exit code of a command.
struct CommandResult {
    let results: [String]
    let notes: [String]
    /// The code the process would exit with.
    let exitCode: Int32
}

/// Runs the command line `arguments` in this process, as the shell would, and collects what it writes.
func heliographctl(_ arguments: String...) async -> CommandResult {
    await heliographctl(arguments)
}

/// Runs the command line `arguments` in this process, given as an array.
///
/// - Parameter answer: The user's answer to a question; nil without a terminal.
func heliographctl(_ arguments: [String], answer: String? = nil) async -> CommandResult {
    // Waits for a server that is busy with other tests.
    let waits = arguments.contains("--database-url") && !arguments.contains("--wait")
    let arguments = waits ? arguments + ["--wait", "60"] : arguments
    let recording = ConsoleRecording()
    var console = recording.console
    if let answer {
        console.ask = { question in
            recording.console.note(question)
            return answer
        }
    }
    let exitCode = await Console.$current.withValue(console) { () -> Int32 in
        do {
            var command = try HeliographCtl.parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch {
            return HeliographCtl.exitCode(for: error).rawValue
        }
    }
    let notes = recording.notes.filter { !waits || !$0.hasPrefix("Waiting up to ") }
    return CommandResult(results: recording.results, notes: notes, exitCode: exitCode)
}
