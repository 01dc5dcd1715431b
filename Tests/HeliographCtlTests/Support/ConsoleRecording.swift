import CommandLineSupport
import Synchronization

@testable import HeliographCtl

/// Records the output of a command.
final class ConsoleRecording: Sendable {
    private let lines = Mutex<(results: [String], notes: [String])>(([], []))

    /// The console that writes into this recording.
    var console: Console {
        Console(
            result: { line in self.lines.withLock { $0.results.append(line.text) } },
            note: { line in self.lines.withLock { $0.notes.append(line.text) } })
    }

    /// The lines of the result so far.
    var results: [String] { lines.withLock { $0.results } }
    /// The notes so far.
    var notes: [String] { lines.withLock { $0.notes } }
}
