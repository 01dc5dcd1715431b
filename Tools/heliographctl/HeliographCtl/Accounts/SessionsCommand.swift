internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
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
            LAST USED is the time of the sign-in or of the last refresh: the device may have used the account for an hour after it.

              heliographctl sessions list --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var account: AccountOptions

    func run() async throws {
        let signIns = try await account.acting.recording(.signInsListed, on: account.user) { transaction in
            try await SignInRepository(transaction).list(of: account.user)
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
            Their tokens end at once, and so do pushes to them. The user can sign in again.

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
        let ended = try await account.acting.recording(action, on: account.user, object: session, detail: detail) { transaction in
            try await end(in: transaction)
        }
        if account.json {
            let record: JSONRecord = ["ended": ended.ids.map(\.wireString), "installs_removed": ended.removedInstalls.count]
            Console.current.result(try JSONOutput.text(record))
        } else {
            Console.current.result(
                "ended \(HumanUnits.count(ended.ids.count, "sign-in")) of \(account.user.wireString), "
                    + "removed \(HumanUnits.count(ended.removedInstalls.count, "installation"))")
        }
    }

    private func tellCount() async throws {
        let signIns = try await account.acting.database.withDatabase { try await SignInRepository($0).list(of: account.user) }
        let count = signIns.count { session == nil || $0.id == session }
        Console.current.result("would end \(HumanUnits.count(count, "sign-in")) of \(account.user.wireString)")
        Console.current.note("Nothing was changed: add --yes to do it.")
    }

    private func end(in transaction: PostgresTransaction) async throws -> EndedSignIns {
        let signIns = SignInRepository(transaction)
        guard let session else {
            var ended = try await signIns.endAll(of: account.user)
            ended.removedInstalls += try await PushInstallRepository(transaction).unregisterAll(of: account.user)
            return ended
        }
        guard let ended = try await signIns.end(session, of: account.user) else {
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

    func lines(_ style: TextStyle) -> [String] {
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
