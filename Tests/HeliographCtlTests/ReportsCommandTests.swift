import Accounts
import CommandLineSupport
import Foundation
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing

@testable import HeliographCtl

struct ReportsCommandTests {
    @Test func `reports are listed, shown and closed`() async throws {
        try await withMigratedDatabase { database async throws in
            _ = try await database.psql(
                """
                INSERT INTO reports (id, subject_type, subject_id, reason, text_sealed)
                VALUES ('7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11', 'topic', 'event:42', 'spam', '\\x01')
                """)
            let id = "7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11"
            let list = await heliographctl("reports", "list", "--database-url", database.url)
            #expect(list.results.count == 2 && list.results[1].contains("event:42") && list.results[1].hasPrefix(id))
            let shown = await heliographctl("reports", "show", id, "--database-url", database.url)
            #expect(shown.exitCode == 0 && shown.results.contains("about   topic event:42"))
            #expect(shown.notes.last?.contains("ACCOUNT_KEYS") == true)
            #expect(await heliographctl("reports", "close", id, "--database-url", database.url).exitCode == 0)
            #expect(await heliographctl("reports", "close", id, "--database-url", database.url).exitCode == 1)
            #expect(await heliographctl("reports", "list", "--database-url", database.url).results.count == 1)
            let audited = try await database.psql("SELECT string_agg(action, ', ' ORDER BY id) FROM audit_log")
            #expect(audited == "report_shown, report_closed")
            let closed = await heliographctl("reports", "list", "--state", "closed", "--json", "--database-url", database.url)
            #expect(closed.results.joined().contains(id))
            #expect(await heliographctl("reports", "show", UUID().uuidString, "--database-url", database.url).exitCode == 1)
        }
    }

    @Test func `the text of a report cannot take over the terminal`() async throws {
        try await withMigratedDatabase { database async throws in
            let (ring, id) = (KeyRing.generateText(), UUID())
            let sealer = Sealer(keyRing: try KeyRing(parsing: ring))
            let sealed = try sealer.seal(Array("one\n\u{1B}]0;two\u{7}".utf8), context: SealingContext.report(id: id))
            try await withClient(of: database) { client async throws in
                try await client.execute(
                    """
                    INSERT INTO reports (id, subject_type, subject_id, reason, text_sealed) VALUES (\(id), 'user', 'u', 'other', \(sealed))
                    """)
            }
            let shown = try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl"), "reports", "show", id.uuidString, "--wait", "60"],
                environment: ["DATABASE_URL": database.url, "ACCOUNT_KEYS": ring, "NO_COLOR": "1"])
            #expect(shown.hasSuffix("\n\none\n\u{FFFD}]0;two\u{FFFD}\n"))
        }
    }

    @Test func `the text of a report opens with the keys it was sealed with`() async throws {
        try await withMigratedDatabase { database async throws in
            let sealer = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
            let id = UUID()
            let sealed = try sealer.seal(Array("again".utf8), context: SealingContext.report(id: id))
            let client = try PostgresClient(configuration: PostgresConfiguration(url: database.url), logger: .silent)
            try await client.execute(
                """
                INSERT INTO reports (id, subject_type, subject_id, reason, text_sealed) VALUES (\(id), 'user', 'u', 'other', \(sealed))
                """)
            let report = try #require(try await AbuseReportRepository(client).find(id: id))
            await client.shutdown()
            #expect(try report.text(sealer) == "again")
            #expect(throws: CryptoError.self) { try report.text(Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))) }
        }
    }
}
