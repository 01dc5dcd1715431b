import Accounts
import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import HeliographCtl

struct CredentialsCommandTests {
    @Test func `a key is shown once, is listed without its secret, and is revoked for good`() async throws {
        try await withMigratedDatabase { database async throws in
            let made = await heliographctl(
                "credentials", "create", "--app", "photoshare", "--name", "production", "--scope", "notify", "--scope", "topics:write",
                "--expires", "7d", "--operator", "grace", "--database-url", database.url)
            #expect(made.exitCode == 0)
            let key = try #require(ServiceKey(made.results[0]))
            let list = await heliographctl("credentials", "list", "--database-url", database.url)
            let row = try #require(list.results.last)
            #expect(row.contains("photoshare") && row.contains("notify topics:write") && row.contains("valid") && row.contains("never"))
            let secret = made.results[0].suffix(43)
            #expect(!list.results.joined().contains(secret))
            let dump = try await database.psql("SELECT service_credentials::text FROM service_credentials")
            #expect(!dump.contains(secret) && dump.contains("photoshare"))
            let id = key.credentialID.uuidString
            #expect(await heliographctl("credentials", "revoke", id, "--database-url", database.url).exitCode == 0)
            #expect(await heliographctl("credentials", "revoke", id, "--database-url", database.url).exitCode == 1)
            let audited = try await database.psql(
                "SELECT string_agg(action || ' ' || (actor_id = 'grace'), ', ' ORDER BY id) FROM audit_log WHERE object_id = '\(id)'")
            #expect(audited == "credential_created true, credential_revoked false")
            let json = await heliographctl("credentials", "list", "--json", "--database-url", database.url)
            #expect(json.results.joined().contains("revoked"))
        }
    }

    @Test func `with a stolen key, what it has scheduled is cancelled, also later, and nothing of other keys`() async throws {
        try await withMigratedDatabase { database async throws in
            let made = await heliographctl(
                "credentials", "create", "--app", "photoshare", "--name", "n", "--scope", "notify", "--database-url", database.url)
            let id = try #require(ServiceKey(made.results[0])).credentialID
            let scheduled = { (credential: UUID) in
                try await database.psql(
                    """
                    INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, request, accepted, unknown, not_before,
                                                   expires_at)
                    VALUES (gen_random_uuid(), 'photoshare', '\(credential)', 'news', sha256('x'), 'scheduled', '\\x01', 1, 0,
                            now() + interval '1 day', now() + interval '2 days')
                    """)
            }
            let other = UUID()
            for credential in [id, id, other] { _ = try await scheduled(credential) }
            let revoke = ["credentials", "revoke", id.uuidString, "--database-url", database.url]
            #expect(await heliographctl(revoke + ["--keep-scheduled"]).exitCode == 0)
            let waiting = { try await database.psql("SELECT count(*) FROM app_notifications WHERE state = 'scheduled'") }
            #expect(try await waiting() == "3", "with the flag they stay")
            let cancelled = await heliographctl(revoke)
            #expect(cancelled.exitCode == 0 && cancelled.results[0].hasSuffix("cancelled 2 scheduled notifications"))
            #expect(
                try await database.psql("SELECT credential_id FROM app_notifications WHERE state = 'scheduled'").lowercased()
                    == other.uuidString.lowercased())
            #expect(await heliographctl(revoke).exitCode == 1)
        }
    }

    @Test(arguments: [
        ["--app", "UPPER", "--name", "n", "--scope", "notify"], ["--app", "a", "--name", "", "--scope", "notify"],
        ["--app", "a", "--name", "n", "--scope", "everything"], ["--app", "a", "--name", "n"],
    ])
    func `an invalid credential is refused without the database`(arguments: [String]) async {
        #expect(await heliographctl(["credentials", "create"] + arguments).exitCode == 64)
    }
}
