internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import WireFormat

/// Lists pairs of accounts with the same face.
struct FaceDuplicatesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List pairs of accounts with the same face as it seems, the oldest first.",
        discussion: """
            The account is the one whose sign-up showed it. A sign-up that waits for the proof of its e-mail is not on the list.

              heliographctl faces duplicates list
              heliographctl faces duplicates list --state resolved --json
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "open or resolved.", transform: Self.state)
    var state = FaceDuplicate.State.open

    @OptionGroup var limit: LimitOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        try await database.withDatabase { client in
            let pairs = try await limit.read { try await FaceDuplicateRepository(client).list(state, limit: $0) }
            let console = Console.current
            guard !json else { return console.result(try JSONOutput.text(pairs.map(\.json))) }
            var table = Table(["ID", "AT", "ACCOUNT", "OTHER"])
            for pair in pairs {
                table.add([
                    .init(pair.id.wireString), .init(HumanUnits.timestamp(pair.foundAt)), .init(pair.userID.wireString),
                    .init(pair.otherID.wireString),
                ])
            }
            table.lines(console.style).forEach(console.result)
        }
    }

    private static func state(_ text: String) throws -> FaceDuplicate.State {
        guard let state = FaceDuplicate.State(rawValue: text) else { throw ValidationError("--state is open or resolved.") }
        return state
    }
}

extension FaceDuplicate {
    fileprivate var json: JSONRecord {
        [
            "id": id.wireString, "account_id": userID.wireString, "other_id": otherID.wireString, "state": state.rawValue,
            "found_at": foundAt, "resolved_at": resolvedAt,
        ]
    }
}
