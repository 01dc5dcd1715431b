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
        abstract: "Find an account, look at it and erase it. Recorded in the audit log.",
        subcommands: [
            UsersFindCommand.self, UsersShowCommand.self, UsersEraseCommand.self, UsersErasuresCommand.self, UsersReceiptCommand.self,
        ]
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

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard (email == nil) != (id == nil) else { throw ValidationError("Say either --email or --id.") }
        if let email, EmailAddress(email) == nil { throw ValidationError("--email is not an e-mail address.") }
    }

    func run() async throws {
        var lookup: [UInt8]?
        if let address = email.flatMap({ EmailAddress($0) }) {
            let settings = try await Settings.withKeys()
            lookup = try reporting(hint: "--id") { address.lookup(under: try settings.lookupKey()) }
        }
        let found = try await options.database.withDatabase { [lookup] client in
            try await client.withTransaction { transaction in
                let users = UserRepository(transaction)
                var userID = id
                if let lookup { userID = try await users.find(emailLookup: lookup)?.id }
                let account = try await AccountReport.account(userID, in: users)
                try await AuditRepository(transaction).append(
                    AuditEntry(.accountShown, by: options.actor, on: account.id, detail: lookup == nil ? "by_id" : "by_email"))
                return account
            }
        }
        try Console.current.show(AccountReport(account: found, email: nil), asJSON: json)
    }
}

/// Shows an account.
struct UsersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an account, and its e-mail if you ask for it.",
        discussion: """
            --reveal opens the e-mail with ACCOUNT_KEYS of the environment, and is recorded.

              heliographctl users show --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var account: AccountOptions

    @Flag(name: .long, help: "Print the e-mail.")
    var reveal = false

    func run() async throws {
        let settings = try await reveal ? Settings.withKeys() : nil
        let sealer = try settings.map { settings in try reporting(hint: "no --reveal") { try settings.sealer(.accounts) } }
        let action = reveal ? AuditAction.emailRevealed : .accountShown
        let found = try await account.acting.recording(action, on: account.user, detail: "by_id") { transaction in
            try await AccountReport.account(account.user, in: UserRepository(transaction))
        }
        // Opened after the commit: the operator reads no e-mail without an entry in the log.
        var email: String?
        if let sealer, let lookup = found.emailLookup, let sealed = found.emailSealed {
            email = String(decoding: try sealer.open(sealed, context: SealingContext.email(lookup: lookup)), as: UTF8.self)
        }
        try Console.current.show(AccountReport(account: found, email: email), asJSON: account.json)
    }
}

/// An account as text or JSON.
struct AccountReport: Report {
    let account: AccountSummary
    /// The e-mail, when it was asked for.
    let email: String?

    /// Reads an account; ends the command when there is none.
    static func account(_ id: UUID?, in users: UserRepository) async throws -> AccountSummary {
        guard let id, let account = try await users.summary(id: id) else {
            Console.current.note("There is no such account.")
            throw ExitCode.nothingFound
        }
        return account
    }

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
