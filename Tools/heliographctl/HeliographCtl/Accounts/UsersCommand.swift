internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import ServiceDefaults
internal import Storage
internal import WireFormat

/// The commands for accounts.
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Find an account and look at it. Each look is recorded in the audit log.",
        subcommands: [UsersFindCommand.self, UsersShowCommand.self]
    )
}

/// Finds the account of an e-mail.
struct UsersFindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find an account by its e-mail or id.",
        discussion: """
            An e-mail is looked up by its keyed hash, so LOOKUP_KEY is read from the environment. The e-mail itself is not printed. \
            Arguments show in the list of processes.

              heliographctl users find --email ada@example.org
              heliographctl users find --email ada@example.org --json | jq -r .id
            """
    )

    @OptionGroup var options: OperatorOptions

    @Option(name: .long, help: ArgumentHelp("The e-mail of the account.", valueName: "address"))
    var email: String?

    @Option(name: .long, help: ArgumentHelp("The id of the account.", valueName: "uuid"), transform: UUID.argument)
    var id: UUID?

    mutating func validate() throws {
        guard (email == nil) != (id == nil) else { throw ValidationError("Say either --email or --id.") }
        if let email, EmailAddress(email) == nil { throw ValidationError("--email is not an e-mail address.") }
    }

    func run() async throws {
        let lookup = try email.flatMap { EmailAddress($0) }.map { address in
            try reporting(hint: "--id") { address.lookup(under: try Settings().secret("LOOKUP_KEY", byteCount: 32)) }
        }
        try await options.database.withDatabase(queryTimeout: OperatorOptions.queryTimeout) { client in
            let found = try await client.withTransaction { transaction -> AccountSummary? in
                let users = UserRepository(transaction)
                var userID = id
                if let lookup { userID = try await users.find(emailLookup: lookup)?.id }
                guard let userID, let account = try await users.summary(id: userID) else { return nil }
                try await AuditRepository(transaction).append(
                    AuditEntry(.accountShown, by: options.actor, on: account.id, detail: lookup == nil ? "by_id" : "by_email"))
                return account
            }
            guard let found else {
                Console.current.note("There is no such account.")
                throw ExitCode.nothingFound
            }
            try Console.current.show(AccountReport(account: found, email: nil), asJSON: options.json)
        }
    }
}

/// Shows an account.
struct UsersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an account, and its e-mail if you ask for it.",
        discussion: """
            --reveal opens the e-mail with SEALING_KEYS of the environment, and is recorded.

              heliographctl users show --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var options: OperatorOptions

    @Option(name: .long, help: ArgumentHelp("The user's id.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID

    @Flag(name: .long, help: "Print the e-mail.")
    var reveal = false

    func run() async throws {
        let sealer = try reveal ? sealer() : nil
        try await options.database.withDatabase(queryTimeout: OperatorOptions.queryTimeout) { client in
            let account = try await client.withTransaction { transaction -> AccountSummary? in
                guard let account = try await UserRepository(transaction).summary(id: user) else { return nil }
                try await AuditRepository(transaction).append(
                    AuditEntry(reveal ? .emailRevealed : .accountShown, by: options.actor, on: user, detail: "by_id"))
                return account
            }
            guard let account else {
                Console.current.note("There is no such account.")
                throw ExitCode.nothingFound
            }
            // Opened after the commit: nobody reads an e-mail without an entry in the log.
            var email: String?
            if let sealer, let lookup = account.emailLookup, let sealed = account.emailSealed {
                email = String(decoding: try sealer.open(sealed, context: SealingContext.email(lookup: lookup)), as: UTF8.self)
            }
            try Console.current.show(AccountReport(account: account, email: email), asJSON: options.json)
        }
    }

    private func sealer() throws -> Sealer {
        try reporting(hint: "no --reveal") {
            let expectation = "one or more id:base64-of-32-bytes, separated by commas"
            let text = try Settings().string("SEALING_KEYS", expectation)
            do { return Sealer(keyRing: try KeyRing(parsing: text)) } catch {
                throw ConfigurationError("SEALING_KEYS", "is not valid", expectation: expectation)
            }
        }
    }
}

/// An account as text or JSON.
struct AccountReport: Report {
    let account: AccountSummary
    /// The e-mail, when it was asked for.
    let email: String?

    func encode(to encoder: any Encoder) throws {
        let record: JSONRecord = [
            "id": account.id.wireString, "created_at": account.createdAt, "face_at": account.faceAt, "sign_ins": account.signIns,
            "installs": account.installs, "sign_ins_ended_at": account.signInsEndedAt, "email": email,
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [String] {
        var table = Table(["ACCOUNT", "CREATED", "FACE", .right("SIGN-INS"), .right("INSTALLATIONS"), "ALL ENDED", "E-MAIL"])
        table.add([
            .init(account.id.wireString), .init(HumanUnits.timestamp(account.createdAt)),
            account.faceAt.map { .init(HumanUnits.timestamp($0)) } ?? .nothing, .count(account.signIns), .count(account.installs),
            account.signInsEndedAt.map { .init(HumanUnits.timestamp($0)) } ?? .nothing, email.map { .init($0) } ?? .nothing,
        ])
        return table.lines(style)
    }
}
