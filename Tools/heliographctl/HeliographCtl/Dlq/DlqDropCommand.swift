internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus

/// Deletes dead letters.
struct DlqDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete dead letters for good: they will never be handled.",
        discussion: """
              heliographctl dlq drop ekyc.requested 1763731805123-0 1763731805188-0
              heliographctl dlq drop ekyc.requested --all --reason unreadable --yes
            """
    )

    @OptionGroup var redis: RedisOptions
    @OptionGroup var selection: DeadLetterSelection

    /// Dead letters deleted in one step.
    private static let stepSize = 1000

    func run() async throws {
        try await redis.withTransport { transport in
            let items = try await selection.confirmed(to: "drop", in: transport)
            var dropped = 0
            for (group, items) in Dictionary(grouping: items, by: \.group) {
                for first in stride(from: 0, to: items.count, by: Self.stepSize) {
                    let step = items[first..<min(first + Self.stepSize, items.count)]
                    dropped += try await transport.drop(step.map(\.id), of: group)
                }
            }
            Console.current.result("dropped \(dropped)")
            if dropped == 0 { throw ExitCode.nothingFound }
        }
    }
}
