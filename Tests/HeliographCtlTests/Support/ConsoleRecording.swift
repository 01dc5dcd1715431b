import Synchronization

@testable import HeliographCtl

/// Collects what a command writes.
final class ConsoleRecording: Sendable {
    private let lines = Mutex<(results: [String], notes: [String])>(([], []))

    /// The console that writes into this recording.
    var console: Console {
        Console(
            result: { line in self.lines.withLock { $0.results.append(line) } },
            note: { line in self.lines.withLock { $0.notes.append(line) } })
    }

    /// The lines of the result so far.
    var results: [String] { lines.withLock { $0.results } }
    /// The lines for a person so far.
    var notes: [String] { lines.withLock { $0.notes } }
}
