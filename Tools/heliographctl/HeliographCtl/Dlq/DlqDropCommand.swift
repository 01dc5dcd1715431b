internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient

/// Deletes dead letters.
struct DlqDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete dead letters for good: they will never be handled.",
        discussion: """
              heliographctl dlq drop ekyc.requested 019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f
              heliographctl dlq drop ekyc.requested --all --reason unreadable --yes
            """
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var selection: DeadLetterSelection

    /// Dead letters deleted in one step.
    private static let stepSize = 1000

    func run() async throws {
        try await database.withDatabase { postgres in
            let items = try await selection.confirmed(to: "drop", in: postgres)
            var dropped = 0
            for (group, items) in Dictionary(grouping: items, by: \.group) {
                for first in stride(from: 0, to: items.count, by: Self.stepSize) {
                    let step = items[first..<min(first + Self.stepSize, items.count)]
                    dropped += try await DeadLetterRepository(postgres).drop(step.map(\.id), of: group)
                }
            }
            Console.current.result("dropped \(dropped)")
            if dropped == 0 { throw ExitCode.nothingFound }
        }
    }
}
