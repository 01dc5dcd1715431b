import Accounts
import Foundation
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

/// Tests the commands that erase accounts and show erasures.
struct ErasureCommandTests {
    private static let key = [UInt8](repeating: 7, count: 32)

    private struct Installation {
        let database: TestDatabase
        let postgres: PostgresClient
        let user: UUID

        func run(_ arguments: String...) async -> CommandResult {
            await heliographctl(arguments + ["--database-url", database.url])
        }

        /// Requests an erasure, and returns its id and the receipt token.
        func erase(_ arguments: String...) async throws -> (id: UUID, token: String) {
            let result = await heliographctl(
                ["users", "erase", "--user", user.wireString, "--yes", "--json", "--operator", "grace"] + arguments
                    + ["--database-url", database.url])
            let answer = try JSONDecoder().decode([String: Value].self, from: Data(result.results.joined().utf8))
            let id = try #require(answer["erasure_id"]?.text.flatMap(UUID.init(uuidString:)))
            return (id, try #require(answer["receipt_token"]?.text))
        }
    }

    /// A string; numbers are read as none.
    private struct Value: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }

    private func withInstallation(_ body: (Installation) async throws -> Void) async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { postgres in
                let user = try await postgres.makeUser(
                    emailLookup: SHA256.hash("ada"), emailSealed: Array("sealed".utf8)
                ).id
                try await body(Installation(database: database, postgres: postgres, user: user))
            }
        }
    }

    @Test func `an account is erased only with --yes`() async throws {
        try await withInstallation { installation async throws in
            let trial = await installation.run("users", "erase", "--user", installation.user.wireString)
            #expect(trial.results == ["would erase the account of \(installation.user.wireString): 0 sign-ins, 0 installations"])
            #expect(try await installation.database.psql("SELECT state FROM users") == "active")
            #expect(try await installation.database.psql("SELECT count(*) FROM erasures") == "0")
        }
    }

    @Test func `an erasure closes the account, tells the services, and is recorded`() async throws {
        try await withInstallation { installation async throws in
            let erasure = try await installation.erase()
            let database = installation.database
            #expect(try await database.psql("SELECT state, NOT EXISTS (SELECT FROM email_lookups) FROM users") == "erasing|t")
            #expect(try await database.psql("SELECT requested_by FROM erasures") == "operator")
            #expect(try await database.psql("SELECT stream || ' ' || key FROM outbox") == "user.erased \(erasure.id.wireString)")
            #expect(
                try await database.psql("SELECT actor_kind, actor_id, action, object_id FROM audit_log")
                    == "operator|grace|account_erasure_requested|\(erasure.id.wireString)")
            let status = try await ErasureRepository(installation.postgres).status(
                id: erasure.id, tokenHash: SHA256.hash(erasure.token))
            #expect(status?.completedAt == nil && status?.scope == .account)
        }
    }

    @Test func `a face is erased without the account`() async throws {
        try await withInstallation { installation async throws in
            _ = try await installation.erase("--face")
            let database = installation.database
            #expect(try await database.psql("SELECT state, NOT EXISTS (SELECT FROM email_lookups) FROM users") == "active|f")
            #expect(try await database.psql("SELECT scope FROM erasures") == "face")
            #expect(try await database.psql("SELECT action FROM audit_log") == "face_erasure_requested")
        }
    }

    @Test func `an account that is unknown, or being erased, is not erased`() async throws {
        try await withInstallation { installation async throws in
            #expect(await installation.run("users", "erase", "--user", UUID().wireString).exitCode == 1)
            #expect(await installation.run("users", "erase", "--user", UUID().wireString, "--yes").exitCode == 1)
            _ = try await installation.erase()
            #expect(await installation.run("users", "erase", "--user", installation.user.wireString, "--yes").exitCode == 1)
            #expect(try await installation.database.psql("SELECT count(*) FROM erasures") == "1")
            #expect(try await installation.database.psql("SELECT count(*) FROM audit_log") == "1")
        }
        #expect(await heliographctl("users", "erase", "--user", "x").exitCode == 64)
    }

    @Test func `erasures are listed with the services that have not reported`() async throws {
        try await withInstallation { installation async throws in
            let erasure = try await installation.erase()
            let erasures = ErasureRepository(installation.postgres)
            try await erasures.add(2, of: "push_installs", to: erasure.id, by: "token-registry")
            try await erasures.finish(erasure.id, by: "token-registry")
            try await erasures.add(1, of: "face_templates", to: erasure.id, by: "face-matching-worker")
            let list = await installation.run("users", "erasures")
            try #require(list.results.count == 2)
            #expect(list.results[1].hasPrefix(erasure.id.wireString))
            #expect(list.results[1].contains("  3  identity-api face-matching-worker image-worker notifier"))
            #expect(!list.results.joined().contains(installation.user.wireString))
            let shown = await installation.run("users", "erasures", "--id", erasure.id.wireString)
            #expect(shown.results.count == 3)
            #expect(shown.results[1].hasPrefix("face-matching-worker") && shown.results[1].hasSuffix("1  face_templates"))
            #expect(shown.results[2].hasPrefix("token-registry") && shown.results[2].hasSuffix("2  push_installs"))
            #expect(await installation.run("users", "erasures", "--id", UUID().wireString).exitCode == 1)
            for service in UserErased.groups { try await erasures.finish(erasure.id, by: service) }
            #expect(await installation.run("users", "erasures").results[1].hasSuffix("  the final check"))
        }
        #expect(await heliographctl("users", "erasures", "--limit", "0").exitCode == 64)
    }

    @Test func `the erasures of a person are found by the account's id, completed or not`() async throws {
        try await withInstallation { installation async throws in
            let erasure = try await installation.erase()
            let user = installation.user.wireString
            #expect(await installation.run("users", "erasures", "--user", user).results[1].hasPrefix(erasure.id.wireString))
            try await ErasureRepository(installation.postgres).store(receipt: "a.b.c", of: erasure.id, at: Date())
            #expect(await installation.run("users", "erasures", "--user", user).results[1].hasPrefix(erasure.id.wireString))
            #expect(await installation.run("users", "erasures", "--user", UUID().wireString).exitCode == 1)
        }
        #expect(await heliographctl("users", "erasures", "--user", UUID().wireString, "--email", "a@b.example").exitCode == 64)
    }

    @Test func `an erasure under way is found by the e-mail, which it forgets when it is completed`() async throws {
        try await withInstallation { installation async throws in
            let address = try #require(EmailAddress("ben@example.org"))
            let user = try await installation.postgres.makeUser(emailLookup: SHA256.hash("ben")).id
            let lookup = address.lookups(under: try .test(Self.key))[0]
            try await installation.postgres.execute("UPDATE email_lookups SET lookup = \(lookup) WHERE user_id = \(user)")
            let erasing = Installation(database: installation.database, postgres: installation.postgres, user: user)
            let erasure = try await erasing.erase()
            func find() async throws -> String {
                try await CommandLineTool.run(
                    [PackageRoot.executable("heliographctl"), "users", "erasures", "--email", "Ben@Example.org", "--wait", "60"],
                    environment: ["DATABASE_URL": installation.database.url, "LOOKUP_KEYS": "k1:\(Base64.encode(Self.key))"])
            }
            #expect(try await find().contains(erasure.id.wireString))
            try await ErasureRepository(installation.postgres).store(receipt: "a.b.c", of: erasure.id, at: Date())
            let failure = await #expect(throws: CommandLineTool.Failure.self) { try await find() }
            #expect(failure?.output.contains("look by --user, or by the receipt's jti with --id") == true)
        }
    }

    @Test func `a receipt is printed when the erasure is completed`() async throws {
        try await withInstallation { installation async throws in
            let erasure = try await installation.erase()
            #expect(await installation.run("users", "receipt", "--id", erasure.id.wireString).exitCode == 1)
            try await ErasureRepository(installation.postgres).store(receipt: "a.b.c", of: erasure.id, at: Date())
            #expect(await installation.run("users", "receipt", "--id", erasure.id.wireString).results == ["a.b.c"])
            let list = await installation.run("users", "erasures", "--json")
            #expect(list.results.joined().contains(#""waits_for" : ["#) && !list.results.joined().contains("notifier"))
        }
        #expect(await heliographctl("users", "receipt").exitCode == 64)
        #expect(await heliographctl("users", "receipt", "--id", UUID().wireString, "--verify", "a").exitCode == 64)
    }

    /// Runs the executable, which reads the secret from its environment.
    @Test func `a receipt is verified with the key of the installation`() async throws {
        let receipt = try ErasureReceiptKey(lookupKeys: .test(Self.key)).sign(["jti": "e1"])
        func verify(_ receipt: String) async throws -> String {
            try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl"), "users", "receipt", "--verify", receipt],
                environment: ["LOOKUP_KEYS": "k1:\(Base64.encode(Self.key))", "NO_COLOR": "1"])
        }
        #expect(try await verify(receipt).contains(#""jti" : "e1""#))
        let other = try ErasureReceiptKey(lookupKeys: .test([UInt8](repeating: 8, count: 32))).sign(["jti": "e1"])
        await #expect(throws: CommandLineTool.Failure.self) { try await verify(other) }
    }
}
