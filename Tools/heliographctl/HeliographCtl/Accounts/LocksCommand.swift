internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// The commands for the locks of sign-ins after failed ones.
struct LocksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locks",
        abstract: "Look at the failed sign-ins that lock an account, and forgive them. Recorded in the audit log.",
        subcommands: [LocksShowCommand.self, LocksClearCommand.self]
    )
}

/// Shows the failed sign-ins of an account that count.
struct LocksShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show whether an account is locked, until when, and the failed sign-ins that count against its next one.",
        discussion: """
            Known devices, which have signed in within 30 days, have a budget each; all others share one. Five failures of a known device \
            lock it until the first of them is 15 minutes old; each five of the others lock all of those for 1, 5, 15 and then 60 \
            minutes. `locks clear` ends a lock at once.

              heliographctl locks show --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
              heliographctl locks show --email ada@example.org
            """
    )

    @OptionGroup var account: AccountOptions

    func run() async throws {
        let failures = try await account.recording(.lockShown) { transaction, user in
            try await SessionRepository(transaction).countedFailures(of: user)
        }
        try Console.current.show(LockReport(failures: failures, now: Date()), asJSON: account.json)
    }
}

/// Forgives the failed sign-ins of an account.
struct LocksClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Forgive the failed sign-ins of an account, so that it is locked no more.",
        discussion: """
              heliographctl locks clear --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var account: AccountOptions

    func run() async throws {
        let (count, user) = try await account.recording(.lockCleared) { transaction, user in
            (try await SessionRepository(transaction).forgiveFailures(of: user), user)
        }
        if account.json {
            let record: JSONRecord = ["forgiven": count]
            Console.current.result(try JSONOutput.text(record))
        } else {
            Console.current.result("forgave \(HumanUnits.count(count, "failed sign-in")) of \(user.wireString)")
        }
    }
}
