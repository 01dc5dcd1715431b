import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import HeliographCtl

struct PushReportTests {
    /// Two rich pushes, one of them opened, one unopened plain push, and three image jobs.
    private func withPushes(_ body: (TestDatabase) async throws -> Void) async throws {
        try await withMigratedDatabase { database in
            try await database.psql(
                """
                INSERT INTO users (id, email_sealed) VALUES ('\(id(9))', '\\x01');
                INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, has_picture, expires_at)
                VALUES ('\(id(1))', 'a', 'new_photos', 'topic', 'event:1', 'bulk', true, now()),
                       ('\(id(2))', 'b', 'new_photos', 'topic', 'event:1', 'bulk', true, now()),
                       ('\(id(3))', 'c', 'chat_message', 'topic', 'conversation:1', 'urgent', false, now());
                INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, settled_at)
                SELECT gen_random_uuid(), id, '\(id(8))', 1, 'normal', 'accepted', now() FROM notifications;
                INSERT INTO notification_receipts (notification_id, reporter_id, event, user_id, at)
                VALUES ('\(id(1))', '\(id(8))', 'opened', '\(id(9))', now()), ('\(id(1))', '\(id(8))', 'delivered', '\(id(9))', now());
                INSERT INTO image_job_reads (job_id, trigger) VALUES ('\(id(4))', 'push'), ('\(id(5))', 'push'), ('\(id(6))', 'poll');
                """)
            try await body(database)
        }
    }

    private func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    @Test func `the report has one line for each kind and form, and the triggers of fetches`() async throws {
        try await withPushes { database in
            let result = await heliographctl("push", "report", "--database-url", database.url)
            #expect(result.exitCode == 0)
            #expect(
                result.results == [
                    "KIND          FORM   ACCEPTED  DEAD  UNSENT  SUPPRESSED  DELIVERED  OPENED  DISMISSED  OPEN RATE",
                    "chat_message  plain         1     0       0           0          0       0          0      0.0 %",
                    "new_photos    rich          2     0       0           0          1       1          0     50.0 %", "",
                    "Open rate: rich 50.0 %, plain 0.0 %.",
                    "Outcomes of 3 image jobs fetched because of: push 66.7 %, poll 33.3 %, launch 0.0 %.",
                ])
        }
    }

    @Test func `--json prints the same figures`() async throws {
        try await withPushes { database in
            let result = await heliographctl("push", "report", "--since", "7d", "--json", "--database-url", database.url)
            let text = result.results.joined(separator: "\n")
            let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let kinds = try #require(json["kinds"] as? [[String: Any]])
            #expect(kinds.map { $0["form"] as? String } == ["plain", "rich"] && kinds.last?["open_rate"] as? Double == 0.5)
            #expect((json["first_fetched_by"] as? [String: Int]) == ["push": 2, "poll": 1, "launch": 0])
        }
    }

    @Test func `without pushes the report says so`() async throws {
        try await withMigratedDatabase { database in
            let result = await heliographctl("push", "report", "--since", "1h", "--database-url", database.url)
            #expect(result.exitCode == 0)
            #expect(result.results.count == 1 && result.results[0].hasSuffix(": no pushes."))
        }
    }

    @Test(arguments: ["0h", "31d", "5", "h", "-1h", "1w", "9999999999999999999d"])
    func `an invalid period is refused`(span: String) async {
        #expect(await heliographctl("push", "report", "--since", span).exitCode == 64)
    }
}
