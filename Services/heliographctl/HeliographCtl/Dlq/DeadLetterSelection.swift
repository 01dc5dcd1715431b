internal import ArgumentParser
internal import EventBus
internal import FoundationEssentials
internal import WireFormat

/// Which dead letters of a stream a command works on, and whether it asks before.
struct DeadLetterSelection: ParsableArguments {
    @Argument(help: "The stream they were in.")
    var stream: String

    @Argument(help: "Their IDs in `dlq list`.", transform: DeadLetterFile.id)
    var ids: [EntryID] = []

    @Flag(name: .long, help: "All dead letters of the stream; those that are added meanwhile are left alone.")
    var all = false

    @Option(
        name: .long, help: "With --all: only those given up for this reason (unreadable, failures or crashes).",
        transform: DeadLetterFile.reason)
    var reason: DeadLetterReason?

    @Flag(name: .long, help: "Do not ask.")
    var yes = false

    mutating func validate() throws {
        try DeadLetterFile.check(stream: stream)
        guard all != !ids.isEmpty else { throw ValidationError("Name the IDs, or say --all.") }
        guard all || reason == nil else { throw ValidationError("--reason belongs to --all.") }
    }

    /// A dead letter to work on; without its body, because there may be very many.
    struct Item: Sendable {
        let group: StreamGroup
        let id: EntryID
        let messageID: UUID?
        let reason: DeadLetterReason?
        let buriedAt: Date

        init(_ filed: FiledLetter) {
            group = filed.group
            id = filed.letter.id
            messageID = filed.letter.envelope?.id
            reason = filed.letter.reason
            buriedAt = filed.letter.buriedAt
        }
    }

    /// Finds the dead letters, says what will be done with them, and asks.
    ///
    /// - Parameter verb: What will be done, such as `redrive`.
    /// - Throws: An exit code when there is nothing to do, or it shall not be done.
    func confirmed(to verb: String, in transport: RedisEventTransport) async throws -> [Item] {
        let file = DeadLetterFile(transport, stream: stream)
        var items: [Item] = []
        if all {
            try await file.forEach(reason: reason) { filed in
                items.append(Item(filed))
                return true
            }
        } else {
            for id in Set(ids).sorted() {
                let found = try await file.find(id).map(Item.init)
                if found.isEmpty { Console.current.note("\(stream) has no dead letter \(id).") }
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
        let oldest = items.map(\.buriedAt).min().map { HumanUnits.age(.seconds(-$0.timeIntervalSinceNow)) } ?? ""
        let groups = Set(items.map(\.group.name)).sorted().joined(separator: ", ")
        let console = Console.current
        console.note(
            "Will \(verb) \(HumanUnits.count(items.count, "dead letter")) of \(stream) (\(groups)): "
                + "\(reasons.joined(separator: ", ")); the oldest was given up \(oldest) ago.")
        if yes { return }
        guard let ask = console.ask else {
            console.note("Nothing was changed: nobody can be asked here, so add --yes to do it.")
            throw ExitCode.validationFailure
        }
        guard ["y", "yes"].contains(await ask("Go on? [y/N]")?.lowercased()) else {
            console.note("Nothing was changed.")
            throw ExitCode.failure
        }
    }
}
