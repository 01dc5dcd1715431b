internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage

/// The options of commands that look at or change one account.
struct AccountOptions: ParsableArguments {
    @OptionGroup var acting: OperatorOptions

    @Option(
        name: [.customLong("user"), .customLong("id")], help: ArgumentHelp("The user's id.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// Runs `body` in a transaction that records the action in the audit log. Without such an account it ends the command, and records
    /// nothing; one that is being erased exists.
    func recording<Value>(
        _ action: AuditAction, object: UUID? = nil, detail: String? = nil, _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await acting.recording(action, on: user, object: object, detail: detail) { transaction in
            guard try await UserRepository(transaction).find(id: user) != nil else { throw Self.noSuchAccount() }
            return try await body(transaction)
        }
    }

    /// Notes that there is no such account, and returns the exit code of that.
    static func noSuchAccount() -> ExitCode {
        Console.current.note("There is no such account.")
        return .nothingFound
    }
}
