internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import PostgresClient
internal import Storage

/// Moves dead letters back to their groups for new attempts.
struct DlqRedriveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Give dead letters to their group again, with a full number of attempts.",
        discussion: """
            Each is moved once, even if several operators redrive at the same time; a message that took effect before does \
            not take effect again. Fix the cause first: a message that still fails comes back as a new dead letter.

              heliographctl dlq redrive notification.requested 1763731805123-0
              heliographctl dlq redrive notification.requested --all --reason failures --rate 10/s --yes
            """
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var selection: DeadLetterSelection

    @Option(name: .long, help: ArgumentHelp("The maximum rate, such as 10/s.", valueName: "rate"))
    var rate: RateArgument?

    func run() async throws {
        try await servers.withServers { transport, postgres in
            let items = try await selection.confirmed(to: "redrive", in: transport)
            let moved = try await Self.redrive(items, in: transport, rate: rate) { moved in
                try await OutboxRepository(postgres).markRedriven(messageIDs: moved.compactMap(\.messageID), wait: Self.confirmWait)
            }
            Console.current.result("redriven \(moved)")
            if moved < items.count {
                Console.current.note("\(items.count - moved) had already been redriven or dropped.")
            }
            if moved == 0 { throw ExitCode.nothingFound }
        }
    }

    /// Time after which the outbox checks that a redriven message was handled, and republishes it if Redis has lost it meanwhile.
    private static let confirmWait: Duration = .seconds(5 * 60)
    /// Dead letters moved in one step; with a rate, those of a tenth of a second.
    private static let stepSize = 100

    /// - Parameter note: Called with the moved dead letters only, because those dropped meanwhile must not be published again.
    private static func redrive(
        _ items: [DeadLetterSelection.Item], in transport: RedisEventTransport, rate: RateArgument?,
        note: ([DeadLetterSelection.Item]) async throws -> Void
    ) async throws -> Int {
        let size = rate.map { max(1, min(stepSize, Int($0.perSecond / 10))) } ?? stepSize
        let start = ContinuousClock.now
        var moved = 0
        for (group, items) in Dictionary(grouping: items, by: \.group) {
            for first in stride(from: 0, to: items.count, by: size) {
                if let rate { try await Task.sleep(until: start + .seconds(Double(moved) / rate.perSecond)) }
                let step = items[first..<min(first + size, items.count)]
                let given = Set(try await transport.redrive(step.map(\.id), of: group))
                moved += given.count
                try await note(step.filter { given.contains($0.id) })
            }
        }
        return moved
    }
}
