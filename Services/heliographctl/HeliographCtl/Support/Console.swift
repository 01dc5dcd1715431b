internal import Foundation

/// Where a command writes: results to standard output, everything else to standard error.
struct Console: Sendable {
    /// The console of the running command; tests put one of their own here.
    @TaskLocal static var current = Console.standard

    /// Writes a line of the result, which a script may read.
    let result: @Sendable (String) -> Void
    /// Writes a line for a person: progress, advice, errors.
    let note: @Sendable (String) -> Void

    /// The process's own streams.
    static let standard = Console(
        result: { write($0, to: .standardOutput) }, note: { write($0, to: .standardError) })

    private static func write(_ line: String, to stream: FileHandle) {
        // A reader that has gone away (`| head`) is no reason to crash.
        try? stream.write(contentsOf: Data((line + "\n").utf8))
    }
}
