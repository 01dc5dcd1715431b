internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import PostgresClient

/// Moves dead letters back to their groups for new attempts.
struct DlqRedriveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Give dead letters to their group again, with a full number of attempts.",
        discussion: """
            Each is moved once, even if several operators redrive at the same time. The outbox publishes it, also when Redis \
            has lost its stream. Fix the cause first: a message that still fails comes back as a new dead letter. An entry that \
            is no message at all cannot be redriven: look at it, and drop it.

              heliographctl dlq redrive notification.requested 019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f
              heliographctl dlq redrive notification.requested --all --reason failures --rate 10/s --yes
            """
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var selection: DeadLetterSelection

    @Option(name: .long, help: ArgumentHelp("The maximum rate, such as 10/s.", valueName: "rate"))
    var rate: RateArgument?

    /// Dead letters moved in one step; with a rate, the number for a tenth of a second.
    private static let stepSize = 100

    func run() async throws {
        try await database.withDatabase { postgres in
            let items = try await selection.confirmed(to: "redrive", in: postgres)
            let (moved, unreadable) = try await redrive(items, in: postgres)
            Console.current.result("redriven \(moved)")
            if unreadable > 0 {
                Console.current.note("\(HumanUnits.count(unreadable, "dead letter")) cannot be redriven: no message can be read from them.")
            }
            if moved + unreadable < items.count {
                Console.current.note("\(items.count - moved - unreadable) had already been redriven or dropped.")
            }
            if moved == 0 { throw ExitCode.nothingFound }
        }
    }

    private func redrive(
        _ items: [DeadLetterSelection.Item], in postgres: PostgresClient
    ) async throws -> (moved: Int, unreadable: Int) {
        let size = rate.map { max(1, min(Self.stepSize, Int($0.perSecond / 10))) } ?? Self.stepSize
        let start = ContinuousClock.now
        var (moved, unreadable) = (0, 0)
        for (group, items) in Dictionary(grouping: items, by: \.group) {
            for first in stride(from: 0, to: items.count, by: size) {
                if let rate { try await Task.sleep(until: start + .seconds(Double(moved) / rate.perSecond)) }
                let step = items[first..<min(first + size, items.count)].map(\.id)
                let redriven = try await postgres.withTransaction { try await DeadLetterRepository($0).redrive(step, of: group) }
                moved += redriven.ids.count
                unreadable += redriven.unreadable.count
            }
        }
        return (moved, unreadable)
    }
}
