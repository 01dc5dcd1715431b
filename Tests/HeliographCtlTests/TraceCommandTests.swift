import EventBus
import Foundation
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct TraceCommandTests {
    /// A finished sign-in at fixed times; `change` undoes a part of it.
    private func withSignIn(_ change: String = "", _ body: (TestDatabase) async throws -> Void) async throws {
        try await withMigratedDatabase { database in
            try await database.psql(
                """
                INSERT INTO sessions (id, user_id, event, attempt_key, state, token_hash, request_id, created_at, started_at, completed_at)
                VALUES ('\(session)', gen_random_uuid(), 'sign_in', gen_random_uuid(), 'succeeded', sha256('t'), 'req-1', \(time(0)),
                        \(time(30)), \(time(500)));
                INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, request_id, body, created_at, state,
                                    consumer_groups, published_at, publications, entry_id, settled_at)
                VALUES ('ekyc.requested', '\(uuid(1))', '\(session)', 'ekyc.requested', 1, now(), 'req-1',
                        '{"session_id":"\(session)","event":"sign_in"}', \(time(0)), 'confirmed', '{face-matching-worker}',
                        \(time(12)), 1, '17-0', \(time(500))),
                       ('notification.requested', '\(uuid(2))', '\(session)', 'notification.requested', 1, now(), 'req-1',
                        '\(request)', \(time(500)), 'confirmed', '{token-registry}', \(time(510)), 1, '18-0', \(time(520)));
                INSERT INTO inbox VALUES ('face-matching-worker', '\(uuid(1))', \(time(500))),
                                         ('token-registry', '\(uuid(2))', \(time(520)));
                INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, state, created_at,
                                           expires_at, settled_at)
                VALUES ('\(uuid(3))', 'ekyc', 'sign_in', 'session', '\(session)', 'urgent', 'settled', \(time(520)), now(),
                        \(time(700)));
                INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, attempt, created_at, settled_at)
                VALUES ('\(uuid(4))', '\(uuid(3))', '\(uuid(5))', 1, 'urgent', 'accepted', 1, \(time(520)), \(time(690)));
                \(change)
                """)
            try await body(database)
        }
    }

    private let session = "00000000-0000-4000-8000-000000000009"

    private func uuid(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    private func time(_ milliseconds: Int) -> String { "timestamptz '2026-11-21 13:30:00Z' + interval '\(milliseconds) ms'" }

    private var request: String {
        """
        {"notification_id":"\(uuid(3))","dedupe_key":"ekyc","kind":"sign_in","recipient":{"type":"session","id":"\(session)"},\
        "lane":"urgent","content":{"session_id":"\(session)","success":true,"user_id":"\(uuid(1))"},"expires_at":1795305600000}
        """
    }

    @Test func `a finished request is one timeline`() async throws {
        try await withSignIn { database in
            let result = await heliographctl("trace", "req-1", "--database-url", database.url)
            #expect(result.exitCode == 0)
            let day = "2026-11-21 13:30:00"
            #expect(
                result.results == [
                    "Request req-1: Everything has ended, after 700 ms.",
                    "",
                    "TIME (UTC)                +MS  TOTAL  STEP          WHAT",
                    "\(day).000    +0      0  http          identity-api accepted the request",
                    "\(day).000    +0      0  session       sign_in \(session) received",
                    "\(day).000    +0      0  event         ekyc.requested committed to the outbox",
                    "\(day).012   +12     12  event         ekyc.requested published as 17-0",
                    "\(day).030   +18     30  session       sign_in \(session) taken by face-matching-worker",
                    "\(day).500  +470    500  session       sign_in \(session) succeeded",
                    "\(day).500    +0    500  handled       ekyc.requested by face-matching-worker",
                    "\(day).500    +0    500  event         notification.requested committed to the outbox",
                    "\(day).510   +10    510  event         notification.requested published as 18-0",
                    "\(day).520   +10    520  handled       notification.requested by token-registry",
                    "\(day).520    +0    520  notification  sign_in \(uuid(3)) for a session, lane urgent",
                    "\(day).520    +0    520  delivery      \(uuid(4)) addressed to installation \(uuid(5))",
                    "\(day).690  +170    690  delivery      \(uuid(4)) accepted after 1 attempt",
                    "\(day).700   +10    700  notification  sign_in \(uuid(3)) settled",
                ])
        }
    }

    @Test func `an image job is listed with each call of a generator`() async throws {
        let change = """
            INSERT INTO users (id, email_sealed) VALUES ('\(uuid(6))', '');
            INSERT INTO image_jobs (id, user_id, template_id, template_name, status, percent, attempts, paid_attempts, request_id,
                                    created_at, started_at, completed_at, error_code, error_message)
            VALUES ('\(uuid(7))', '\(uuid(6))', 'vintage', 'Vintage', 'failed', 40, 2, 1, 'req-2', \(time(0)), \(time(20)),
                    \(time(900)), 'content_blocked', 'No.');
            INSERT INTO image_attempts (job_id, number, generator, outcome, started_at, finished_at)
            VALUES ('\(uuid(7))', 1, 'model-1', 'free', \(time(50)), \(time(60))),
                   ('\(uuid(7))', 2, 'model-1', NULL, \(time(300)), NULL);
            INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, request_id, body, created_at, state,
                                consumer_groups, published_at, publications, entry_id, settled_at)
            VALUES ('image.requested', '\(uuid(8))', '\(uuid(7))', 'image.requested', 1, now(), 'req-2',
                    '{"job_id":"\(uuid(7))"}', \(time(0)), 'confirmed', '{image-worker}', \(time(12)), 1, '19-0', \(time(900)));
            """
        try await withSignIn(change) { database in
            let lines = await heliographctl("trace", "req-2", "--database-url", database.url).results
            let job = "image job  vintage \(uuid(7))"
            let expected = [
                "\(job) received", "\(job) taken by image-worker", "model-1 attempt 1 started", "model-1 attempt 1 ended: free",
                "model-1 attempt 2 started", "model-1 attempt 2 never ended: its worker died", "\(job) failed (content_blocked)",
            ]
            #expect(lines.compactMap { line in expected.first { line.hasSuffix($0) } } == expected)
        }
    }

    @Test func `open steps are at the end, with the time since which they are open`() async throws {
        let change = """
            UPDATE deliveries SET state = 'pending', settled_at = NULL, code = 'UNAVAILABLE', due_at = now();
            UPDATE notifications SET state = 'addressed', settled_at = NULL;
            """
        try await withSignIn(change) { database in
            let lines = await heliographctl("trace", "req-1", "--database-url", database.url).results
            #expect(lines[0] == "Request req-1: 2 steps open, 520 ms so far.")
            let open = lines.suffix(2)
            #expect(open.allSatisfy { $0.hasPrefix("2026-11-21 13:30:00.520  ") && $0.contains("  OPEN for ") })
            #expect(open.first?.hasSuffix("is addressed, not settled") == true)
            #expect(open.last?.contains("waits for attempt 2 (UNAVAILABLE), due ") == true)
        }
    }

    @Test func `JSON has every step with its time and state`() async throws {
        let change = """
            INSERT INTO dead_letters (stream, id, consumer_group, entry_id, reason, error, failures, crashes, consumer, fields)
            SELECT stream, message_id, 'token-registry', entry_id, 'failures', 'refused', 16, 0, 'c', '{}' FROM outbox
            WHERE stream = 'notification.requested';
            DELETE FROM deliveries;
            DELETE FROM notifications;
            """
        try await withSignIn(change) { database in
            let result = await heliographctl("trace", "req-1", "--json", "--database-url", database.url)
            let text = result.results.joined(separator: "\n")
            let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(document["request_id"] as? String == "req-1")
            #expect(document["open"] as? Int == 0)
            let steps = try #require(document["steps"] as? [[String: Any]])
            let last = try #require(steps.last)
            #expect(last["state"] as? String == "failed")
            #expect(last["at"] as? String == "2026-11-21T13:30:00.520Z")
            #expect(last["since_start_ms"] as? Int == 520)
            #expect(
                last["text"] as? String
                    == "notification.requested dead letter of token-registry: heliographctl dlq list notification.requested")
        }
    }

    @Test func `what a request has made leads to its trace`() async throws {
        let change = """
            UPDATE notifications SET request_id = 'req-1';
            INSERT INTO users (id, email_sealed) VALUES ('\(uuid(6))', '');
            INSERT INTO topics (id, name, owner_id) VALUES ('\(uuid(7))', 'conversation:1', '\(uuid(6))'),
                                                          ('\(uuid(8))', 'conversation:2', '\(uuid(6))');
            INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
            VALUES ('\(uuid(7))', 'm-1', 1, '\(uuid(6))', '\(uuid(3))', sha256('f'));
            """
        try await withSignIn(change) { database in
            for id in [session, uuid(3), "m-1"] {
                let result = await heliographctl("trace", id, "--database-url", database.url)
                #expect(result.results.first == "Request req-1: Everything has ended, after 700 ms.", "\(id)")
            }
            // The same id in another conversation is another message.
            try await database.psql(
                """
                INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, expires_at, request_id)
                VALUES ('\(uuid(9))', 'chat', 'chat_message', 'topic', 'conversation:2', 'urgent', now(), 'req-2');
                INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
                VALUES ('\(uuid(8))', 'm-1', 1, '\(uuid(6))', '\(uuid(9))', sha256('f'));
                """)
            let several = await heliographctl("trace", "m-1", "--database-url", database.url)
            #expect(several.exitCode == 1 && several.notes.joined().contains("req-1, req-2"))
        }
    }

    @Test func `what is left of a request is found by its own id when the messages are deleted`() async throws {
        let change = """
            DELETE FROM outbox;
            INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, request, request_id, accepted, unknown,
                                           not_before, expires_at)
            VALUES ('\(uuid(6))', 'shop', '\(uuid(6))', 'sale', sha256('f'), 'scheduled', '{}', 'req-3', 2, 0, now() + interval '1 h',
                    now() + interval '2 h');
            """
        try await withSignIn(change) { database in
            func trace(_ id: String) async -> [String] { await heliographctl("trace", id, "--database-url", database.url).results }
            let push = await trace(uuid(3))
            #expect(push.first?.hasPrefix("A request without an id: Everything has ended") == true)
            #expect(push.contains { $0.contains("accepted after 1 attempt") } && push.contains { $0.hasSuffix("\(uuid(3)) settled") })
            #expect(await trace(session).first?.hasPrefix("Request req-1: Everything has ended") == true)
            for id in [uuid(6), "req-3"] {
                let lines = await trace(id)
                #expect(lines.first?.hasPrefix("Request req-3: 1 step open") == true, "\(id)")
                #expect(lines.last?.contains("sale \(uuid(6)) waits until ") == true, "\(id)")
            }
        }
    }

    @Test func `an unknown request says what to check`() async throws {
        try await withMigratedDatabase { database in
            let result = await heliographctl("trace", "nobody\u{1B}", "--database-url", database.url)
            #expect(result.exitCode == 1)
            #expect(result.results.isEmpty)
            #expect(
                result.notes.first?.hasPrefix("No request, image job, session, message or notification is nobody\u{FFFD}. ") == true)
        }
    }
}
