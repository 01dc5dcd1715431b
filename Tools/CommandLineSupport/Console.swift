internal import Foundation

/// The output of a command: results to standard output, everything else to standard error.
package struct Console: Sendable {
    /// The console of the running command; tests replace it.
    @TaskLocal package static var current = Console.standard

    /// Writes a line of the result, which a script may read.
    package let result: @Sendable (PrintableText) -> Void
    /// Writes a note for the operator: progress, advice, errors.
    package let note: @Sendable (PrintableText) -> Void
    /// Colours of the result.
    package var style = TextStyle.plain
    /// Asks the user a question and returns the answer; nil without a terminal.
    package var ask: (@Sendable (PrintableText) async -> String?)?
    /// Shows a progress line that the next line overwrites; nil where lines cannot be overwritten.
    package var progress: (@Sendable (PrintableText) -> Void)?
    /// Whether the result goes to a terminal that can show a full-screen view.
    package var isScreen = false

    /// Creates a console without a terminal.
    package init(
        result: @escaping @Sendable (PrintableText) -> Void, note: @escaping @Sendable (PrintableText) -> Void
    ) {
        self.result = result
        self.note = note
    }

    /// Writes a report to the result, as text or as JSON.
    package func show(_ report: some Report, asJSON isJSON: Bool) throws {
        (isJSON ? [try JSONOutput.text(report)] : report.lines(style)).forEach(result)
    }

    /// A console on the standard streams of the process.
    package static var standard: Console {
        var console = Console(
            result: { write("\($0)\n", to: .standardOutput) }, note: { write("\($0)\n", to: .standardError) })
        let isTerminal = { (descriptor: Int32) in isatty(descriptor) == 1 }
        console.style = TextStyle(isTerminal: isTerminal(STDOUT_FILENO), environment: ProcessInfo.processInfo.environment)
        console.isScreen = isTerminal(STDOUT_FILENO) && isTerminal(STDIN_FILENO)
        guard isTerminal(STDERR_FILENO) else { return console }
        if ProcessInfo.processInfo.environment["TERM"] != "dumb" {
            // The line is not wrapped, because a wrapped one would not be overwritten whole.
            console.progress = { write("\r\u{1B}[?7l\($0)\u{1B}[K\u{1B}[?7h", to: .standardError) }
        }
        if isTerminal(STDIN_FILENO) { console.ask = { question in await answer(to: question) } }
        return console
    }

    private static func write(_ text: PrintableText, to stream: FileHandle) {
        // A closed pipe (`| head`) is not an error.
        try? stream.write(contentsOf: Data(text.text.utf8))
    }

    /// Reads a line on a thread of its own, because it blocks until the user answers.
    private static func answer(to question: PrintableText) async -> String? {
        write("\(question) ", to: .standardError)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}

/// A result that is printed as text or as JSON.
package protocol Report: Encodable {
    /// The report as text.
    func lines(_ style: TextStyle) -> [PrintableText]
}
