internal import Foundation

/// Where a command writes: results to standard output, everything else to standard error.
struct Console: Sendable {
    /// The console of the running command; tests put one of their own here.
    @TaskLocal static var current = Console.standard

    /// Writes a line of the result, which a script may read.
    let result: @Sendable (String) -> Void
    /// Writes a line for a person: progress, advice, errors.
    let note: @Sendable (String) -> Void
    /// How the result is shown.
    var style = TextStyle.plain
    /// Asks a person a question and gives the answer; nil when nobody is there to ask.
    var ask: (@Sendable (String) async -> String?)?
    /// Shows a line for a person that the next line takes the place of; nil where lines stay.
    var progress: (@Sendable (String) -> Void)?
    /// Whether the result goes to a terminal that can be drawn on.
    var isScreen = false

    /// The process's own streams.
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
        // A reader that has gone away (`| head`) is no reason to crash.
        try? stream.write(contentsOf: Data(text.utf8))
    }

    /// Waits for a line on a thread of its own, because a person takes their time.
    private static func answer(to question: String) async -> String? {
        write(question + " ", to: .standardError)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}
