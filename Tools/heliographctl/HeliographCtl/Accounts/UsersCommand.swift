internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
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

/// An account that was found, as text or JSON.
struct AccountReport: Report {
    let account: AccountSummary

    /// Reads an account; ends the command when it does not exist.
    static func account(_ id: UUID?, in users: UserRepository) async throws -> AccountSummary {
        guard let id, let account = try await users.summary(id: id) else {
            throw AccountOptions.noSuchAccount()
        }
        return account
    }

    func encode(to encoder: any Encoder) throws {
        let record: JSONRecord = [
            "id": account.id.wireString, "created_at": account.createdAt, "face_at": account.faceAt, "sign_ins": account.signIns,
            "installs": account.installs, "sign_ins_ended_at": account.signInsEndedAt,
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["ACCOUNT", "CREATED", "FACE", .right("SIGN-INS"), .right("INSTALLATIONS"), "ALL ENDED"])
        table.add([
            .init(account.id.wireString), .init(HumanUnits.timestamp(account.createdAt)),
            account.faceAt.map { .init(HumanUnits.timestamp($0)) } ?? .nothing, .count(account.signIns), .count(account.installs),
            account.signInsEndedAt.map { .init(HumanUnits.timestamp($0)) } ?? .nothing,
        ])
        return table.lines(style)
    }
}
