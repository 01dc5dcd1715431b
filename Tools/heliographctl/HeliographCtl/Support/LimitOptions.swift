internal import ArgumentParser

/// The option that limits the length of a list.
struct LimitOptions: ParsableArguments {
    /// The maximum length of a list.
    private static let maxCount = 10_000

    @Option(name: .customLong("limit"), help: ArgumentHelp("The maximum number to list: 1 to 10,000.", valueName: "count"))
    var count = 100

    mutating func validate() throws {
        guard 1...Self.maxCount ~= count else { throw ValidationError("--limit is 1 to 10,000.") }
    }
}
