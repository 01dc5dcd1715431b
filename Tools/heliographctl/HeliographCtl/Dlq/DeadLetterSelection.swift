internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// The options that select dead letters of a stream, and confirm a change to them.
struct DeadLetterSelection: ParsableArguments {
    @Argument(help: "The stream they were in.")
    var stream: String

    @Argument(help: "Their IDs in `dlq list`.", transform: UUID.argument)
    var ids: [UUID] = []

    @Flag(name: .long, help: "All dead letters of the stream; those that are added meanwhile are left alone.")
    var all = false

    @Option(
        name: .long, help: "With --all: only those with this reason (unreadable, failures or crashes).",
        transform: DeadLetterReader.reason)
    var reason: DeadLetterReason?

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    mutating func validate() throws {
        try DeadLetterReader.check(stream: stream)
        guard all != !ids.isEmpty else { throw ValidationError("Give the IDs, or --all.") }
        guard all || reason == nil else { throw ValidationError("--reason belongs to --all.") }
    }

    /// A dead letter to work on; without its body, because there may be very many.
    struct Item: Sendable {
        let group: StreamGroup
        let id: UUID
        let reason: DeadLetterReason
        let deadLetteredAt: Date

        init(_ letter: DeadLetter) {
            (group, id, reason, deadLetteredAt) = (letter.group, letter.id, letter.reason, letter.deadLetteredAt)
        }
    }

    /// Finds the dead letters, announces the change, and asks for confirmation.
    ///
    /// - Parameter verb: The change, such as `redrive`.
    /// - Throws: An exit code when there is no dead letter, or the change is not confirmed.
    func confirmed(to verb: String, in postgres: PostgresClient) async throws -> [Item] {
        let reader = DeadLetterReader(postgres, stream: stream)
        var items: [Item] = []
        if all {
            try await reader.forEach(reason: reason) { item in
                items.append(Item(item))
                return true
            }
        } else {
            for id in Set(ids).sorted(by: { $0.wireString < $1.wireString }) {
                let found = try await reader.repository.find(id, in: stream).map(Item.init)
                if found.isEmpty { Console.current.note("\(stream) has no dead letter \(id.wireString).") }
                items += found
            }
        }
        guard !items.isEmpty else {
            Console.current.note("There is nothing to \(verb).")
            throw ExitCode.nothingFound
        }
        try await confirm(items, verb)
        return items
    }

    private func confirm(_ items: [Item], _ verb: String) async throws {
        let reasons = DeadLetterReason.allCases.compactMap { reason in
            let number = items.count { $0.reason == reason }
            return number == 0 ? nil : "\(number) \(reason.rawValue)"
        }
        let oldest = items.map(\.deadLetteredAt).min().map { HumanUnits.age(.seconds(-$0.timeIntervalSinceNow)) } ?? ""
        let groups = Set(items.map(\.group.name)).sorted().joined(separator: ", ")
        let console = Console.current
        console.note(
            "Will \(verb) \(HumanUnits.count(items.count, "dead letter")) of \(stream) (\(groups)): "
                + "\(reasons.joined(separator: ", ")); the oldest is \(oldest) old.")
        if yes { return }
        guard let ask = console.ask else {
            console.note("Nothing was changed: without a terminal add --yes to confirm.")
            throw ExitCode.validationFailure
        }
        guard ["y", "yes"].contains(await ask("Go on? [y/N]")?.lowercased()) else {
            console.note("Nothing was changed.")
            throw ExitCode.failure
        }
    }
}
