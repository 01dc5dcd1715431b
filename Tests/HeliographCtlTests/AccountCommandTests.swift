import Accounts
import ArgumentParser
import Foundation
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

/// Tests the commands that look at and change accounts.
struct AccountCommandTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let email = "Ada@Example.org"

    /// An account with an e-mail, a sign-in on a device, and five failed sign-ins.
    private struct Installation {
        let database: TestDatabase
        let postgres: PostgresClient
        let user: UUID
        let signIn: UUID

        func run(_ arguments: String...) async -> CommandResult {
            await heliographctl(arguments + ["--operator", "grace", "--database-url", database.url])
        }

        /// Runs the executable, which reads secrets and the operator's name from its environment.
        func execute(_ arguments: String..., operatorName: String = "hopper") async throws -> String {
            let key = Base64.encode(AccountCommandTests.key)
            return try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl")] + arguments + ["--wait", "60"],
                environment: [
                    "DATABASE_URL": database.url, "LOOKUP_KEYS": "k1:\(key)", "ACCOUNT_KEYS": "k1:\(key)", "USER": operatorName,
                    "NO_COLOR": "1",
                    "FIREBASE_AUTH_PROJECT_ID": "heliograph-dev",
                ])
        }

        func audit(of account: UUID? = nil) async throws -> [String] {
            try await AuditRepository(postgres).find(.user(account ?? user), since: .distantPast, limit: 100)
                .map { "\($0.actorKind) \($0.actorID ?? "-") \($0.action) \($0.detail ?? "-")" }
        }
    }

    private func withInstallation(_ body: (Installation) async throws -> Void) async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { postgres in
                let address = try #require(EmailAddress(Self.email))
                let (id, lookup) = (UUID(), address.lookups(under: try .test(Self.key))[0])
                let sealer = Sealer(keyRing: try KeyRing(parsing: "k1:\(Base64.encode(Self.key))"))
                let sealed = try sealer.seal(Array(address.normalised.utf8), context: SealingContext.email(accountID: id))
                let user = try await postgres.makeUser(id: id, emailLookup: lookup, emailSealed: sealed).id
                let pair = try await AccessTokenRepository(postgres).insert(
                    NewAccessToken(
                        userID: user, sessionID: UUID(), accessHash: SHA256.hash("a"), refreshHash: SHA256.hash("r"),
                        installationKey: SHA256.hash("phone"), lifetimes: SignInLifetimes()))
                for _ in 1...5 {
                    let session = try await SessionRepository(postgres).insert(
                        NewSession(
                            userID: user, event: .signIn, attemptKey: user, tokenHash: SHA256.hash("t"),
                            installationKey: SHA256.hash("other")))
                    _ = try await SessionRepository(postgres).complete(id: session.id, outcome: .failed(.noMatch))
                }
                try await body(Installation(database: database, postgres: postgres, user: user, signIn: pair.familyID))
            }
        }
    }

    @Test func `an account is found by any spelling of its e-mail, which is printed only when it is asked for`() async throws {
        try await withInstallation { installation async throws in
            let found = try await installation.execute("users", "find", "--email", "  ada@EXAMPLE.org ", "--json")
            #expect(found.contains(installation.user.wireString))
            #expect(!found.lowercased().contains("ada@"))
            let shown = try await installation.execute("users", "show", "--user", installation.user.wireString)
            #expect(!shown.contains("ada@"))
            let revealed = try await installation.execute("users", "show", "--user", installation.user.wireString, "--reveal")
            #expect(revealed.contains("ada@example.org"))
            #expect(
                try await installation.audit().suffix(3) == [
                    "operator hopper account_shown by_email", "operator hopper account_shown by_id", "operator hopper email_revealed by_id",
                ])
        }
    }

    @Test func `an account is shown with what belongs to it, and nothing that is sealed`() async throws {
        try await withInstallation { installation async throws in
            let shown = await installation.run("users", "show", "--id", installation.user.wireString)
            func value(_ name: String) -> String? {
                shown.results.first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count).drop { $0 == " " }) }
            }
            #expect(value("account") == installation.user.wireString && value("state") == "active")
            #expect(value("e-mail") == "sealed; --reveal prints it" && value("name") == "none" && value("face") == "none")
            #expect(value("pictures") == "0, 0 not ended" && value("erasures under way") == "none")
            #expect(shown.results.contains("Signed in on 1 device.") && shown.results.contains("Pushes go to 0 installations."))
            #expect(shown.results.contains { $0.hasPrefix("Devices that are not known: locked until ") })
            let json = await installation.run("users", "show", "--id", installation.user.wireString, "--json").results.joined()
            #expect(json.contains(installation.signIn.wireString) && json.contains(#""has_email" : true"#))
        }
    }

    @Test func `commands for one account take its e-mail, and the log says how it was named`() async throws {
        try await withInstallation { installation async throws in
            let id = installation.user.wireString
            #expect(try await installation.execute("users", "show", "--email", "ada@example.org").contains(id))
            #expect(try await installation.audit().last == "operator hopper account_shown by_email")
            let signIns = try await installation.execute("sessions", "list", "--email", Self.email, "--json")
            #expect(signIns.contains(installation.signIn.wireString))
            #expect(try await installation.execute("locks", "clear", "--email", Self.email) == "forgave 5 failed sign-ins of \(id)\n")
            #expect(try await installation.execute("audit", "--email", Self.email).contains("lock_cleared"))
            #expect(try await installation.execute("sessions", "revoke", "--email", Self.email).contains("would end 1 sign-in of \(id)"))
            #expect(try await installation.execute("users", "erase", "--email", Self.email).contains("would erase the account of \(id)"))
            await #expect(throws: CommandLineTool.Failure.self) {
                try await installation.execute("locks", "show", "--email", "ben@example.org")
            }
        }
        #expect(await heliographctl("locks", "show").exitCode == 64)
        #expect(await heliographctl("locks", "show", "--user", UUID().wireString, "--email", Self.email).exitCode == 64)
        #expect(await heliographctl("audit", "--user", UUID().wireString, "--email", Self.email).exitCode == 64)
        #expect(await heliographctl("locks", "show", "--email", "ada").exitCode == 64)
    }

    @Test func `an account is found by Firebase's id of its user`() async throws {
        try await withInstallation { installation async throws in
            let subject = FederatedSubject("firebase-ada", of: "https://securetoken.google.com/heliograph-dev")
            let identities = FederatedIdentityRepository(installation.postgres)
            let made = try await identities.findOrCreate(
                issuer: subject.issuer, subjectLookup: subject.lookups(under: .test(Self.key))[0], signedInAt: Date())
            let account = try #require(made?.identity.userID)
            let found = try await installation.execute("users", "find", "--firebase-uid", "firebase-ada", "--json")
            #expect(found.contains(account.wireString) && !found.contains("firebase-ada"))
            #expect(try await installation.audit(of: account) == ["operator hopper account_shown by_firebase_uid"])
            let failure = await #expect(throws: CommandLineTool.Failure.self) {
                try await installation.execute("users", "find", "--firebase-uid", "firebase-ben")
            }
            #expect(failure?.exitCode == 1)
        }
        #expect(await heliographctl("users", "find", "--firebase-uid", "").exitCode == 64)
        #expect(await heliographctl("users", "find", "--firebase-uid", String(repeating: "a", count: 129)).exitCode == 64)
        #expect(await heliographctl("users", "find", "--firebase-uid", "a", "--email", Self.email).exitCode == 64)
    }

    @Test func `an operator without a name is recorded by the user id of the process, which says what it is`() async throws {
        try await withInstallation { installation async throws in
            _ = try await installation.execute("users", "show", "--user", installation.user.wireString, operatorName: "")
            #expect(try await installation.audit().last == "operator uid:\(getuid()) account_shown by_id")
        }
    }

    @Test func `an unknown account is no success`() async throws {
        try await withInstallation { installation async throws in
            #expect(await installation.run("users", "find", "--id", UUID().wireString).exitCode == 1)
            #expect(await installation.run("users", "show", "--user", UUID().wireString).exitCode == 1)
            await #expect(throws: CommandLineTool.Failure.self) {
                try await installation.execute("users", "find", "--email", "nobody@example.org")
            }
        }
        #expect(await heliographctl("users", "find").exitCode == 64)
        #expect(await heliographctl("users", "find", "--email", "nonsense").exitCode == 64)
        #expect(await heliographctl("users", "find", "--id", "+a95f3a0-1b2c-7d3e-8f40-5162738495a6").exitCode == 64)
    }

    @Test func `sign-ins are listed and ended, one or all, and only with --yes`() async throws {
        try await withInstallation { installation async throws in
            let user = installation.user.wireString
            let listed = await installation.run("sessions", "list", "--user", user, "--json")
            #expect(listed.results.joined().contains(installation.signIn.wireString))
            let trial = await installation.run("sessions", "revoke", "--user", user)
            #expect(trial.results == ["would end 1 sign-in of \(user)"])
            #expect(try await SignInRepository(installation.postgres).list(of: installation.user).count == 1)
            let unknown = await installation.run("sessions", "revoke", "--user", user, "--session", UUID().wireString, "--yes")
            #expect(unknown.exitCode == 1)
            let one = await installation.run("sessions", "revoke", "--user", user, "--session", installation.signIn.wireString, "--yes")
            #expect(one.results == ["ended 1 sign-in of \(user), removed 0 installations"])
            let all = await installation.run("sessions", "revoke", "--user", user, "--yes")
            #expect(all.results == ["ended 0 sign-ins of \(user), removed 0 installations"])
            #expect(try await SignInRepository(installation.postgres).list(of: installation.user).isEmpty)
            #expect(
                try await installation.audit().suffix(3) == [
                    "operator grace sign_ins_listed -", "operator grace sign_in_ended -", "operator grace sign_ins_ended all",
                ])
        }
    }

    @Test func `the end of all sign-ins names the identity providers, and the end of one does not`() async throws {
        try await withInstallation { installation async throws in
            let issuer = "https://securetoken.google.com/heliograph-dev"
            try await installation.database.psql(
                "INSERT INTO identities (issuer, subject_lookup, user_id) "
                    + "VALUES ('\(issuer)', decode('026b31' || repeat('07', 32), 'hex'), '\(installation.user.wireString)')")
            let user = installation.user.wireString
            let trial = await installation.run("sessions", "revoke", "--user", user)
            #expect(trial.results == ["would end 1 sign-in of \(user)", "would end its sign-ins with \(issuer)"])
            #expect(try await installation.database.psql("SELECT count(valid_after) FROM identities") == "0")
            let one = await installation.run("sessions", "revoke", "--user", user, "--session", installation.signIn.wireString, "--yes")
            #expect(one.results == ["ended 1 sign-in of \(user), removed 0 installations"])
            #expect(try await installation.database.psql("SELECT count(valid_after) FROM identities") == "0")
            let all = await installation.run("sessions", "revoke", "--user", user, "--yes")
            #expect(
                all.results == ["ended 0 sign-ins of \(user), removed 0 installations", "ended its sign-ins with \(issuer)"])
            #expect(try await installation.database.psql("SELECT count(valid_after) FROM identities") == "1")
        }
    }

    @Test(arguments: [
        ["sessions", "list"], ["sessions", "revoke"], ["sessions", "revoke", "--yes"], ["locks", "show"], ["locks", "clear"],
        ["users", "show"],
    ])
    func `a command for an account that does not exist fails, and records nothing`(_ command: [String]) async throws {
        try await withInstallation { installation async throws in
            let unknown = UUID()
            let result = await heliographctl(command + ["--user", unknown.wireString, "--database-url", installation.database.url])
            #expect(result.exitCode == 1)
            #expect(result.results.isEmpty && result.notes == ["There is no such account."])
            #expect(try await AuditRepository(installation.postgres).find(.user(unknown), since: .distantPast, limit: 1).isEmpty)
            try await installation.database.psql("UPDATE users SET state = 'erasing', email_sealed = NULL")
            let closed = await heliographctl(
                command + ["--user", installation.user.wireString, "--database-url", installation.database.url])
            #expect(closed.exitCode == 0)
        }
    }

    @Test func `a lock is shown and cleared, and the account can sign in again`() async throws {
        try await withInstallation { installation async throws in
            let user = installation.user.wireString
            let shown = await installation.run("locks", "show", "--user", user)
            #expect(shown.results.count { $0.contains("no_match") && $0.contains("unknown") } == 5)
            let cleared = await installation.run("locks", "clear", "--user", user)
            #expect(cleared.results == ["forgave 5 failed sign-ins of \(user)"])
            let attempts = try await installation.postgres.withTransaction {
                try await SessionRepository($0).lockSignInAttempts(
                    attemptKeys: [installation.user], userID: installation.user, installationKey: SHA256.hash("other"))
            }
            #expect(attempts.failedAt.isEmpty)
            #expect(
                try await installation.audit().suffix(3) == [
                    "anonymous - sign_in_locked -", "operator grace lock_shown -", "operator grace lock_cleared -",
                ])
        }
    }

    @Test func `a lock is shown with its end, and without one when it is over`() async throws {
        try await withInstallation { installation async throws in
            let user = installation.user.wireString
            let locked = await installation.run("locks", "show", "--user", user)
            #expect(locked.results[0].contains(/^Devices that are not known: locked until 20.*Z, for [0-9]+m?s more; 5 failed sign-ins\.$/))
            try await installation.database.psql("UPDATE sessions SET completed_at = completed_at - interval '2 minutes'")
            let over = await installation.run("locks", "show", "--user", user)
            #expect(over.results[0] == "Devices that are not known: not locked; 5 failed sign-ins.")
            _ = await installation.run("locks", "clear", "--user", user)
            #expect(await installation.run("locks", "show", "--user", user).results == ["Not locked: no failed sign-in counts."])
        }
    }

    @Test func `a known device has a lock of its own`() async throws {
        try await withInstallation { installation async throws in
            for _ in 1...5 {
                let session = try await SessionRepository(installation.postgres).insert(
                    NewSession(
                        userID: installation.user, event: .signIn, attemptKey: installation.user, tokenHash: SHA256.hash("t"),
                        installationKey: SHA256.hash("phone")))
                _ = try await SessionRepository(installation.postgres).complete(id: session.id, outcome: .failed(.noMatch))
            }
            let shown = await installation.run("locks", "show", "--user", installation.user.wireString)
            #expect(shown.results[1].contains(/^Known device [0-9a-f]{8}: locked until 20.*Z, for 14m .* more; 5 failed sign-ins\.$/))
        }
    }

    @Test func `the audit log is printed by account, by request, and by age`() async throws {
        try await withInstallation { installation async throws in
            try await AuditRepository(installation.postgres).append(
                AuditEntry(.signedIn, by: .user(installation.user), on: installation.user, requestID: "r-1"))
            func audit(_ arguments: String...) async -> String {
                await heliographctl(["audit"] + arguments + ["--database-url", installation.database.url]).results.joined(separator: "\n")
            }
            let byUser = await audit("--user", installation.user.wireString)
            #expect(byUser.contains("sign_in_locked") && byUser.contains("signed_in"))
            let byRequest = await audit("--request", "r-1", "--since", "1h", "--json")
            #expect(byRequest.contains(#""action" : "signed_in""#) && !byRequest.contains("sign_in_locked"))
            #expect(await audit("--user", UUID().wireString, "--json") == "[\n\n]")
            #expect(await audit("--since", "731d").contains("signed_in"))
            let newest = await heliographctl("audit", "--limit", "1", "--database-url", installation.database.url)
            #expect(newest.results.count == 2 && newest.results[1].contains("signed_in"))
            #expect(newest.notes == ["1 are shown, and there are more: --limit 10 shows more."])
        }
        #expect(await heliographctl("audit", "--user", UUID().wireString, "--request", "x").exitCode == 64)
    }

    @Test(arguments: [
        ("732d", "--since is up to 731d: the audit log is kept for 24 months."), ("soon", "soon is no time: 90s, 30m, 24h and 7d are."),
    ])
    func `an age beyond the retention of the audit log is refused with the limit`(_ age: String, _ message: String) {
        let error = #expect(throws: (any Error).self) { try HeliographCtl.parseAsRoot(["audit", "--since", age]) }
        #expect(error.map { HeliographCtl.message(for: $0).contains(message) } == true)
    }
}
