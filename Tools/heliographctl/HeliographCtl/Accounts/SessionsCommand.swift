internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import WireFormat

/// The commands for the devices on which an account is signed in.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List the devices on which an account is signed in, and sign them out. Recorded in the audit log.",
        subcommands: [SessionsListCommand.self, SessionsRevokeCommand.self]
    )
}

/// Lists the sign-ins of an account.
struct SessionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the sign-ins of an account, the last used first.",
        discussion: """
            LAST USED is the time of the sign-in or of the last refresh: the device may have used the account for an hour after it. \
            Sign-ins with an identity provider are not listed: the provider keeps them.

              heliographctl sessions list --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
              heliographctl sessions list --email ada@example.org
            """
    )

    @OptionGroup var account: AccountOptions

    func run() async throws {
        let signIns = try await account.recording(.signInsListed) { transaction, user in
            try await SignInRepository(transaction).list(of: user)
        }
        try Console.current.show(SignInReport(signIns: signIns), asJSON: account.json)
    }
}

/// Ends sign-ins of an account.
struct SessionsRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Sign a device of an account out, or all of them.",
        discussion: """
            Their tokens end at once, and so do pushes to them. The user can sign in again. Without --session, sign-ins with identity \
            providers end as well: the tokens of those of before are refused.

              heliographctl sessions revoke --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --yes
            """
    )

    @OptionGroup var account: AccountOptions

    @Option(name: .long, help: ArgumentHelp("Only this one, as `sessions list` names it.", valueName: "uuid"), transform: UUID.argument)
    var session: UUID?

    @Flag(name: .long, help: "Really do it.")
    var yes = false

    func run() async throws {
        guard yes else { return try await tellCount() }
        let action = session == nil ? AuditAction.signInsEnded : .signInEnded
        let detail = session == nil ? "all" : nil
        let (ended, providers, user) = try await account.recording(action, object: session, detail: detail) { transaction, user in
            (try await end(of: user, in: transaction), try await endedProviders(of: user, in: transaction), user)
        }
        if account.json {
            let record: JSONRecord = [
                "ended": ended.ids.map(\.wireString), "identity_providers": providers, "installs_removed": ended.removedInstalls.count,
            ]
            Console.current.result(try JSONOutput.text(record))
        } else {
            Console.current.result(
                "ended \(HumanUnits.count(ended.ids.count, "sign-in")) of \(user.wireString), "
                    + "removed \(HumanUnits.count(ended.removedInstalls.count, "installation"))")
            for provider in providers { Console.current.result("ended its sign-ins with \(provider)") }
        }
    }

    private func tellCount() async throws {
        let (signIns, providers, user) = try await account.reading { client, user in
            (try await SignInRepository(client).list(of: user), try await endedProviders(of: user, in: client), user)
        }
        let count = signIns.count { session == nil || $0.id == session }
        Console.current.result("would end \(HumanUnits.count(count, "sign-in")) of \(user.wireString)")
        for provider in providers { Console.current.result("would end its sign-ins with \(provider)") }
        Console.current.note("Nothing was changed: add --yes to do it.")
    }

    /// The identity providers whose sign-ins end with all others; empty with --session. The number of their sign-ins is not known here.
    private func endedProviders(of user: UUID, in database: some PostgresQueryable) async throws -> [String] {
        let found = try await AccountReport.account(user, in: UserRepository(database))
        return session == nil ? found.identityProviders : []
    }

    private func end(of user: UUID, in transaction: PostgresTransaction) async throws -> EndedSignIns {
        let signIns = SignInRepository(transaction)
        guard let session else {
            var ended = try await signIns.endAll(of: user)
            ended.removedInstalls += try await PushInstallRepository(transaction).unregisterAll(of: user)
            return ended
        }
        guard let ended = try await signIns.end(session, of: user) else {
            Console.current.note("The account has no such sign-in.")
            throw ExitCode.nothingFound
        }
        return ended
    }
}

/// Sign-ins as text or JSON.
struct SignInReport: Report {
    let signIns: [SignIn]

    func encode(to encoder: any Encoder) throws {
        try signIns.map { signIn -> JSONRecord in
            [
                "session_id": signIn.id.wireString, "created_at": signIn.createdAt, "last_used_at": signIn.lastUsedAt,
                "expires_at": signIn.expiresAt, "platform": signIn.platform, "app_version": signIn.appVersion, "locale": signIn.locale,
            ]
        }.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["SESSION", "SIGNED IN", "LAST USED", "PLATFORM", "APP", "LOCALE"])
        for signIn in signIns {
            table.add([
                .init(signIn.id.wireString), .init(HumanUnits.timestamp(signIn.createdAt)),
                .init(HumanUnits.timestamp(signIn.lastUsedAt)), signIn.platform.map { .init($0) } ?? .nothing,
                signIn.appVersion.map { .init($0) } ?? .nothing, signIn.locale.map { .init($0) } ?? .nothing,
            ])
        }
        return table.lines(style)
    }
}
