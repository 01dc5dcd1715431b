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
        let sealer = try settings.map { try $0.installationSealer(.accounts) }
        let action = reveal ? AuditAction.emailRevealed : .accountShown
        let found = try await account.recording(action, detail: "by_id") { transaction in
            try await AccountReport.account(account.user, in: UserRepository(transaction))
        }
        // Opened after the commit: the operator reads no e-mail without an entry in the log.
        var email: String?
        if let sealer, let sealed = found.emailSealed {
            email = String(decoding: try sealer.open(sealed, context: SealingContext.email(accountID: found.id)), as: UTF8.self)
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
            throw AccountOptions.noSuchAccount()
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
