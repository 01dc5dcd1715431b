internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// The options of commands that look at or change one account.
struct AccountOptions: ParsableArguments {
    @OptionGroup var acting: OperatorOptions

    @Option(
        name: [.customLong("user"), .customLong("id")], help: ArgumentHelp("The user's id.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID?

    @Option(
        name: .long, help: ArgumentHelp("The user's e-mail, in place of the id; LOOKUP_KEYS is read for it.", valueName: "address"),
        transform: EmailAddress.argument)
    var email: EmailAddress?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// How the account is named, as the audit log says it.
    var criterion: String { email == nil ? "by_id" : "by_email" }

    mutating func validate() throws {
        guard (user == nil) != (email == nil) else { throw ValidationError("Say either --user or --email.") }
    }

    /// Runs `body` in a transaction that records the action in the audit log. Without such an account it ends the command without a record.
    /// An account that is being erased still exists.
    func recording<Value>(
        _ action: AuditAction, object: UUID? = nil, detail: String? = nil, _ body: (PostgresTransaction, UUID) async throws -> Value
    ) async throws -> Value {
        let lookups = try await email?.installationLookups(hint: "--user")
        return try await acting.database.withDatabase { client in
            try await client.withTransaction { transaction in
                let id = try await Self.account(user, or: lookups, in: transaction)
                try await AuditRepository(transaction).append(
                    AuditEntry(action, by: acting.actor, on: id, object: object, detail: detail))
                return try await body(transaction, id)
            }
        }
    }

    /// Runs `body` with the id of the account. Without such an account it ends the command.
    func reading<Value>(_ body: (PostgresClient, UUID) async throws -> Value) async throws -> Value {
        let lookups = try await email?.installationLookups(hint: "--user")
        return try await acting.database.withDatabase { client in
            try await body(client, try await Self.account(user, or: lookups, in: client))
        }
    }

    /// Returns the id of an account that exists, by the id or by what its e-mail is found by. Without one it ends the command.
    static func account(_ id: UUID?, or lookups: [[UInt8]]?, in db: some PostgresQueryable) async throws -> UUID {
        let users = UserRepository(db)
        let found: User? =
            if let id { try await users.find(id: id) } else { try await users.find(emailLookups: lookups ?? []) }
        guard let found else { throw noSuchAccount() }
        return found.id
    }

    /// Notes that there is no such account, and returns the exit code of that.
    static func noSuchAccount() -> ExitCode {
        Console.current.note("There is no such account.")
        return .nothingFound
    }
}

extension EmailAddress {
    /// Parses an e-mail on the command line.
    static func argument(_ text: String) throws -> EmailAddress {
        guard let address = EmailAddress(text) else { throw ValidationError("It is not an e-mail address.") }
        return address
    }
}
