internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
internal import ServiceDefaults

/// Shows everything that an operator may see of an account.
struct UsersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything that an operator may see of an account; its e-mail and name if you ask for them.",
        discussion: """
            States, numbers and times; then where it is signed in, its installations, and the failed sign-ins that count. The e-mail and \
            the name are sealed: --reveal opens them with ACCOUNT_KEYS of the environment, and is recorded as such. Faces, pictures, \
            tokens and messages are not shown by any command. `audit --user` prints what was done to it.

              heliographctl users show --id 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
              heliographctl users show --email ada@example.org
              heliographctl users show --id 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --reveal --operator grace
            """
    )

    @OptionGroup var account: AccountOptions

    @Flag(name: .long, help: "Print the e-mail and the name that others see.")
    var reveal = false

    func run() async throws {
        let settings = try await reveal ? Settings.withKeys() : nil
        let sealer = try settings.map { try $0.installationSealer(.accounts) }
        let action = reveal ? AuditAction.emailRevealed : .accountShown
        var report = try await account.recording(action, detail: account.criterion) { transaction, user in
            let users = UserRepository(transaction)
            guard let summary = try await users.summary(id: user), let details = try await users.details(id: user) else {
                throw AccountOptions.noSuchAccount()
            }
            return AccountDetailReport(
                account: summary, details: details,
                signIns: try await SignInRepository(transaction).list(of: user),
                installs: try await PushInstallRepository(transaction).find(userIDs: [user]),
                locks: LockReport(failures: try await SessionRepository(transaction).countedFailures(of: user), now: Date()))
        }
        // Opened after the commit: the operator reads no e-mail without an entry in the log.
        if let sealer { try report.reveal(with: sealer) }
        try Console.current.show(report, asJSON: account.json)
    }
}
