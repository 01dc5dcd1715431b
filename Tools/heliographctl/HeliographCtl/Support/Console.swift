internal import Foundation

/// The output of a command: results to standard output, everything else to standard error.
struct Console: Sendable {
    /// The console of the running command; tests replace it.
    @TaskLocal static var current = Console.standard

    /// Writes a line of the result, which a script may read.
    let result: @Sendable (String) -> Void
    /// Writes a note for the operator: progress, advice, errors.
    let note: @Sendable (String) -> Void
    /// Colours of the result.
    var style = TextStyle.plain
    /// Asks the user a question and returns the answer; nil without a terminal.
    var ask: (@Sendable (String) async -> String?)?
    /// Shows a progress line that the next line overwrites; nil where lines cannot be overwritten.
    var progress: (@Sendable (String) -> Void)?
    /// Whether the result goes to a terminal that can show a full-screen view.
    var isScreen = false

    /// A console on the standard streams of the process.
    static var standard: Console {
        let isScreen = isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1
        let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
        var console = Console(
            result: { write($0 + "\n", to: .standardOutput) }, note: { write($0 + "\n", to: .standardError) })
        console.style = TextStyle(
            isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment)
        console.isScreen = isScreen
        if isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" {
            // The line is not wrapped, because a wrapped one would not be overwritten whole.
            console.progress = { write("\r\u{1B}[?7l\($0)\u{1B}[K\u{1B}[?7h", to: .standardError) }
        }
        if canAsk { console.ask = { question in await answer(to: question) } }
        return console
    }

    private static func write(_ text: String, to stream: FileHandle) {
        // A closed pipe (`| head`) is not an error.
        try? stream.write(contentsOf: Data(text.utf8))
    }

    /// Reads a line on a thread of its own, because it blocks until the user answers.
    private static func answer(to question: String) async -> String? {
        write(question + " ", to: .standardError)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}
