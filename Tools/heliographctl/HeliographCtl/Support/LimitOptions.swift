internal import ArgumentParser
internal import CommandLineSupport

/// The option that limits the length of a list.
struct LimitOptions: ParsableArguments {
    /// The maximum length of a list.
    private static let maxCount = 10_000

    @Option(name: .customLong("limit"), help: ArgumentHelp("The maximum number to list: 1 to 10,000.", valueName: "count"))
    var count = 100

    mutating func validate() throws {
        guard 1...Self.maxCount ~= count else { throw ValidationError("--limit is 1 to 10,000.") }
    }

    /// Reads a list, and notes when it has more elements than are to be shown.
    ///
    /// - Parameter list: Reads at most so many elements.
    func read<Element>(_ list: (Int) async throws -> [Element]) async throws -> [Element] {
        // One more says whether there are more.
        let found = try await list(count + 1)
        guard found.count > count else { return found }
        noteMore()
        return Array(found.prefix(count))
    }

    /// Notes that a list is cut, and how to see more of it.
    func noteMore() { Self.noteMore(than: count, upTo: Self.maxCount) }

    /// Notes that a list is cut, and how to see more of it.
    static func noteMore(than count: Int, upTo most: Int) {
        let remedy = count < most ? "--limit \(min(count * 10, most)) shows more" : "no command lists more than \(most)"
        Console.current.note("\(count) are shown, and there are more: \(remedy).")
    }
}
