import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct PushWhyTests {
    private static let (ben, cat, dan, eve) = (id(1), id(2), id(3), id(4))

    private static func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    /// A conversation of Ada, who has left it, and four others; Eve's message reached Dan's phone, and Cat blocks Eve.
    private func withMessage(_ change: String = "", _ body: (TestDatabase) async throws -> Void) async throws {
        try await withMigratedDatabase { database in
            let (topic, notification) = (Self.id(8), Self.id(9))
            try await database.psql(
                """
                INSERT INTO users (id, email_sealed) SELECT id::uuid, '\\x01' FROM unnest(ARRAY['\(Self.ben)', '\(Self.cat)', '\(Self.dan)',
                                                                                              '\(Self.eve)']) AS u (id);
                INSERT INTO topics (id, name, owner_id) VALUES ('\(topic)', 'conversation:1', '\(Self.ben)');
                INSERT INTO topic_members (topic_id, user_id, joined_at)
                SELECT '\(topic)', id, now() - interval '1 day' FROM users;
                INSERT INTO topic_leavers (topic_id, user_id, left_at) VALUES ('\(topic)', '\(Self.id(5))', now() - interval '1 day');
                INSERT INTO user_blocks (user_id, blocked_id) VALUES ('\(Self.cat)', '\(Self.eve)');
                INSERT INTO push_installs (id, installation_key, kind, value_sealed, value_hash, user_id, registered_at)
                SELECT id, sha256(id::text::bytea), 'token', '', sha256(id::text::bytea), id, now() - interval '1 day' FROM users
                WHERE id <> '\(Self.ben)';
                INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, topic_id, expires_at, state,
                                           settled_at, request_id)
                VALUES ('\(notification)', 'chat:\(topic):m-1', 'chat_message', 'topic', 'conversation:1', 'urgent', '\(topic)', now(),
                        'settled', now(), 'req-1');
                INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
                VALUES ('\(topic)', 'm-1', 1, '\(Self.eve)', '\(notification)', sha256('f'));
                INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, settled_at)
                VALUES ('\(Self.id(7))', '\(notification)', '\(Self.dan)', 1, 'urgent', 'accepted', now());
                \(change)
                """)
            try await body(database)
        }
    }

    private func why(_ arguments: String..., in database: TestDatabase) async -> CommandResult {
        await heliographctl(["push", "why"] + arguments + ["--database-url", database.url])
    }

    @Test func `a message is explained for every member`() async throws {
        try await withMessage { database in
            let lines = await why("m-1", in: database).results
            #expect(lines.first?.hasPrefix("chat_message \(Self.id(9)), requested ") == true)
            let sentences = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }
            let unsent = "It was not sent, because"
            #expect(
                sentences == [
                    "  FCM took it for 1 phone, and no phone has reported that it arrived.",
                    "  User \(Self.ben): \(unsent) no phone of the user could get it. (no_installation)",
                    "  User \(Self.cat): \(unsent) the user blocks its sender. (sender_blocked)",
                    "  User \(Self.eve): \(unsent) the user sent it. (sender)",
                    "  User \(Self.id(5)): \(unsent) the user had left the topic before. (not_a_member)",
                ])
            #expect(lines.count { $0.hasPrefix("    ") } == sentences.count)
            let audited = try await database.psql(
                "SELECT action || ' ' || coalesce(subject_id::text, '-') || ' ' || object_id FROM audit_log")
            #expect(audited == "pushes_explained - \(Self.id(9))")
        }
    }

    @Test func `a message is explained for one member, and the question is recorded`() async throws {
        try await withMessage { database in
            let lines = await why("m-1", "--user", Self.cat, in: database).results
            #expect(lines.count { $0.hasPrefix("  User") } == 1 && lines.contains { $0.contains("(sender_blocked)") })
            #expect(!lines.contains { $0.contains("FCM took it") })
            let audited = try await database.psql("SELECT action || ' ' || subject_id || ' ' || object_id FROM audit_log")
            #expect(audited == "pushes_explained \(Self.cat) \(Self.id(9))")
        }
    }

    @Test(arguments: [
        ("UPDATE push_installs SET state = 'invalid', invalid_at = now() WHERE id = '\(dan)'", "token_dead"),
        ("UPDATE push_installs SET registered_at = now() + interval '1 minute' WHERE id = '\(dan)'", "registered_later"),
        ("UPDATE push_installs SET state = 'suspect', suspect_until = now() WHERE id = '\(dan)'", "no_installation"),
        ("UPDATE topic_members SET joined_at = now() + interval '1 minute' WHERE user_id = '\(dan)'", "joined_later"),
        (
            """
            INSERT INTO user_blocks VALUES ('\(dan)', '\(eve)', now() - interval '1 hour');
            UPDATE topic_members SET joined_at = now() + interval '1 minute' WHERE user_id = '\(dan)'
            """, "joined_later_or_blocked"
        ),
        ("INSERT INTO user_blocks VALUES ('\(dan)', '\(eve)', now() - interval '1 hour')", "sender_blocked"),
        ("INSERT INTO user_blocks VALUES ('\(dan)', '\(eve)', now() + interval '1 hour')", "blocked_or_unreachable"),
        (
            "UPDATE push_installs SET state = 'invalid', invalid_at = now() + interval '1 hour' WHERE id = '\(dan)'",
            "blocked_or_unreachable"
        ),
    ])
    func `a member without a delivery has the reason that the phones or the membership show`(_ change: String, _ code: String) async throws
    {
        try await withMessage("DELETE FROM deliveries; \(change);") { database in
            let lines = await why("m-1", "--user", Self.dan, in: database).results
            #expect(lines.contains { $0.hasPrefix("  User \(Self.dan)") && $0.hasSuffix("(\(code))") }, "\(lines)")
        }
    }

    @Test func `a message in a conversation without another member says so, and when the last one left`() async throws {
        let alone = "DELETE FROM deliveries; DELETE FROM notifications; DELETE FROM topic_members WHERE user_id <> '\(Self.eve)';"
        try await withMessage(alone) { database in
            let sentence = await why("m-1", in: database).results[0]
            #expect(sentence.contains("has no push, because no other member of the conversation is known from that time"))
            #expect(sentence.contains("; the last one left, or declined an invitation, at 20") && sentence.hasSuffix(". (no_other_member)"))
            try await database.psql("UPDATE topic_leavers SET left_at = now() + interval '1 hour'")
            #expect(await why("m-1", in: database).results[0].hasSuffix("has no notification."), "there was another member then")
        }
    }

    @Test(arguments: [
        ("scheduled", "'{}'", 2, "It waits until 20", "(scheduled)"),
        ("cancelled", "NULL", 2, "It was not sent, because it", "(cancelled)"),
        ("requested", "NULL", 0, "It was sent to no phone", "(no_recipient)"), ("requested", "NULL", 2, "The request of 20", "."),
    ])
    func `a notification of an app that looked for no phones is explained by its state`(
        _ state: String, _ request: String, _ accepted: Int, _ words: String, _ end: String
    ) async throws {
        let change = """
            INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, request, user_ids, accepted, unknown,
                                           not_before, expires_at)
            VALUES ('\(Self.id(6))', 'shop', '\(Self.id(6))', 'sale', sha256('f'), '\(state)', \(request), '{\(Self.ben)}', \(accepted), 1,
                    now() + interval '1 h', now() + interval '2 h');
            """
        try await withMessage(change) { database in
            let lines = await why(Self.id(6), in: database).results
            try #require(lines.count == 3, "\(lines)")
            #expect(lines[0].hasPrefix("sale \(Self.id(6)), requested ") && lines[0].hasSuffix(", by the server of the app shop"))
            #expect(lines[1].hasPrefix("  \(words)") && lines[1].hasSuffix(end), "\(lines[1])")
            let ofUser = await why(Self.ben, in: database).results
            #expect(ofUser.contains { $0.contains("(scheduled)") } == (state == "scheduled"))
        }
    }

    @Test func `what is scheduled for a topic is meant for its members`() async throws {
        let change = """
            INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, request, accepted, unknown, not_before,
                                           expires_at)
            VALUES ('\(Self.id(6))', 'shop', '\(Self.id(6))', 'sale', sha256('f'), 'scheduled',
                    '{"recipient":{"type":"topic","id":"conversation:1"}}', 4, 0, now() + interval '1 h', now() + interval '2 h');
            """
        try await withMessage(change) { database in
            #expect(await why(Self.ben, in: database).results.contains { $0.hasPrefix("sale \(Self.id(6)), ") })
            try await database.psql("UPDATE topics SET name = 'conversation:10'")
            #expect(await !why(Self.ben, in: database).results.contains { $0.hasPrefix("sale ") })
        }
    }

    @Test(arguments: ["job", "ekyc", "photos", "possession"])
    func `a thing whose row is deleted is found by its notification`(_ prefix: String) async throws {
        try await withMessage("UPDATE notifications SET dedupe_key = '\(prefix):\(Self.id(6))';") { database in
            #expect(await why(Self.id(6).uppercased(), in: database).results.first?.hasPrefix("chat_message \(Self.id(9))") == true)
        }
    }

    @Test func `a list that is cut says so`() async throws {
        let second = """
            INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, expires_at)
            VALUES ('\(Self.id(6))', 'a', 'account_alert', 'user', '\(Self.dan)', 'urgent', now());
            """
        try await withMessage(second) { database in
            let cut = await why(Self.dan, "--limit", "1", in: database)
            #expect(cut.results.count { $0.contains(", requested ") } == 1)
            #expect(cut.notes == ["1 are shown, and there are more: --limit 10 shows more."])
            #expect(await why(Self.dan, "--limit", "2", in: database).notes.isEmpty)
        }
    }

    @Test func `no remedy leads back to the question`() {
        #expect(!PushReason.table.contains("push why"))
    }

    @Test func `of photos, whose sender is not kept, the answer does not guess`() async throws {
        let photos = "DELETE FROM deliveries; UPDATE notifications SET kind = 'new_photos', dedupe_key = 'photos:1';"
        try await withMessage(photos) { database in
            let lines = await why(Self.id(9), in: database).results
            #expect(lines.count { $0.hasSuffix("(unknown)") } == 3 && !lines.contains { $0.contains("(sender_blocked)") })
        }
    }

    @Test func `of photos that are on their way, the sender is known`() async throws {
        let photos = """
            DELETE FROM deliveries;
            UPDATE notifications SET kind = 'new_photos', dedupe_key = 'photos:1', state = 'addressed', settled_at = NULL,
                sender_id = '\(Self.eve)';
            """
        try await withMessage(photos) { database in
            let lines = await why(Self.id(9), in: database).results
            #expect(lines.contains { $0.contains("User \(Self.eve):") && $0.hasSuffix("(sender)") })
            #expect(lines.contains { $0.contains("User \(Self.cat):") && $0.hasSuffix("(sender_blocked)") })
        }
    }

    @Test func `a message of a former topic of the same name does not list the members of the newer one`() async throws {
        let renamed = """
            UPDATE topics SET name = 'conversation:2';
            INSERT INTO topics (id, name, owner_id) VALUES ('\(Self.id(6))', 'conversation:1', '\(Self.ben)');
            INSERT INTO topic_members (topic_id, user_id, joined_at) SELECT '\(Self.id(6))', '\(Self.cat)', now() - interval '1 day';
            """
        try await withMessage(renamed) { database in
            #expect(await !why("m-1", in: database).results.contains { $0.contains("User ") })
        }
    }

    @Test(arguments: [
        ("accepted', code = NULL", "FCM took it for 1 phone"),
        ("skipped', code = 'presence", "had the conversation on its screen. (presence)"),
        ("dead', code = 'UNREGISTERED", "FCM calls the token of the phone dead. (UNREGISTERED)"),
        ("failed', code = 'http_407", "answered with an HTTP error. (http_407)"),
        ("expired', code = 'breaker_provider_ios", "refuses the project's credentials. (breaker_provider_ios)"),
        ("failed', code = 'NEWS_OF_FCM", "FCM answered NEWS_OF_FCM. (NEWS_OF_FCM)"),
    ])
    func `an outcome is one sentence with its cause`(_ state: String, _ words: String) async throws {
        let assignment = state.contains("NULL") ? "'\(state)" : "'\(state)'"
        try await withMessage("UPDATE deliveries SET state = \(assignment);") { database in
            let lines = await why(Self.id(9), "--user", Self.dan, in: database).results
            #expect(lines.contains { $0.contains(words) }, "\(lines)")
        }
    }

    @Test func `the receipts of phones are part of the answer`() async throws {
        let receipt = """
            INSERT INTO notification_receipts VALUES ('\(Self.id(9))', '\(Self.dan)', 'suppressed', '\(Self.dan)', now());
            """
        try await withMessage(receipt) { database in
            let lines = await why("m-1", in: database).results
            #expect(lines.contains { $0.contains("an app did not show it because it had its subject on the screen") })
        }
    }

    @Test func `a user is found by the e-mail, and the answer has the pushes of the last day`() async throws {
        let key = [UInt8](repeating: 9, count: 32)
        let address = try #require(EmailAddress("dan@example.org"))
        let lookup = address.lookups(under: try .test(key))[0].map { String(format: "%02x", $0) }.joined()
        try await withMessage("INSERT INTO email_lookups (lookup, user_id) VALUES ('\\x\(lookup)', '\(Self.dan)');") { database in
            let answer = try await CommandLineTool.run(
                [PackageRoot.executable("heliographctl"), "push", "why", "DAN@example.org"],
                environment: ["DATABASE_URL": database.url, "LOOKUP_KEYS": "k1:\(Base64.encode(key))"])
            #expect(answer.contains("chat_message \(Self.id(9))") && answer.contains("FCM took it for 1 phone"))
            try await database.psql("UPDATE notifications SET created_at = now() - interval '2 days'")
            let later = await why(Self.dan, in: database).results
            #expect(later.count == 2 && later[0].contains("No push was requested since "))
            #expect(await why(Self.dan, "--since", "3d", in: database).results.count > 2)
            try await database.psql("DELETE FROM push_installs")
            #expect(await why(Self.dan, in: database).results[0].contains("The user has no phone that gets pushes now."))
        }
    }

    @Test func `a picture that is not ended has no push yet`() async throws {
        let job = """
            INSERT INTO image_jobs (id, user_id, template_id, template_name, request_id)
            VALUES ('\(Self.id(6))', '\(Self.dan)', 'vintage', 'Vintage', 'req-2');
            """
        try await withMessage(job) { database in
            #expect(await why(Self.id(6), in: database).results[0].contains("The picture is not ended yet"))
            try await database.psql(
                """
                UPDATE image_jobs SET status = 'failed', completed_at = now(), error_code = 'no_face', error_message = 'No face.'
                """)
            let ended = await why(Self.id(6), "--json", in: database).results.joined()
            #expect(ended.contains("has no notification"))
            try await database.psql(
                "UPDATE image_jobs SET status = 'pending', completed_at = NULL, error_code = NULL, error_message = NULL, deleted_at = now()"
            )
            #expect(await why(Self.id(6), in: database).results[0].hasSuffix("its user deleted it before it had ended. (job_deleted)"))
        }
    }

    @Test func `an unknown id is no success`() async throws {
        try await withMessage { database in
            #expect(await why(Self.dan, "--user", Self.cat, in: database).exitCode == 64)
            for id in ["m-2", UUID().uuidString] {
                let result = await why(id, in: database)
                #expect(result.exitCode == 1 && result.results.isEmpty)
            }
        }
        #expect(await heliographctl("push", "why", "").exitCode == 64)
        #expect(await heliographctl("push", "why", "@").exitCode == 64)
    }

    @Test func `the page about pushes that were not sent has every reason`() throws {
        let page = "docs/operations/push-why.md"
        #expect(try GeneratedSection("Reasons why a push was not sent or not shown", of: page).holds(PushReason.table))
    }
}
