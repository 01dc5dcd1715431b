import Accounts
import FoundationEssentials
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

/// An operator's question reads what it is about, and not the tables.
struct PushInquiryTests {
    private static let crowd = 3_000

    /// Many notifications of apps, the first of them waiting, and as many messages and notifications.
    private func withCrowd(_ body: (PostgresTransaction) async throws -> Void) async throws {
        try await withStorage { client in
            let owner = try await client.makeUser(emailLookup: SHA256.hash("ada")).id
            try await client.withTransaction { transaction in
                try await transaction.execute(
                    """
                    INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, request, request_id, user_ids,
                                                   accepted, unknown, not_before, expires_at)
                    SELECT gen_random_uuid(), 'shop', gen_random_uuid(), 'sale', sha256('f'),
                           CASE n WHEN 1 THEN 'scheduled' ELSE 'cancelled' END, CASE n WHEN 1 THEN ''::bytea END, 'req-' || n,
                           CASE n WHEN 1 THEN ARRAY[\(owner)::uuid] ELSE '{}' END, 1, 0, now(), now() + interval '1 h'
                    FROM generate_series(1, \(Self.crowd)) n
                    """)
                try await transaction.execute(
                    """
                    INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, expires_at)
                    SELECT gen_random_uuid(), 'job:00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'job_completed', 'user',
                           gen_random_uuid(), 'normal', now() FROM generate_series(1, \(Self.crowd)) n
                    """)
                try await transaction.execute(
                    """
                    WITH made AS (INSERT INTO topics (name, owner_id) VALUES ('conversation:1', \(owner)) RETURNING id)
                    INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
                    SELECT id, 'm-' || n, n, \(owner), gen_random_uuid(), sha256('f') FROM made, generate_series(1, \(Self.crowd)) n
                    """)
                try await transaction.execute("ANALYZE app_notifications, notifications, conversation_messages")
                try await body(transaction)
            }
        }
    }

    /// The rows of a table that a statement reads.
    private func read(_ table: String, in transaction: PostgresTransaction, _ statement: () async throws -> Void) async throws -> Int64 {
        let before = try await transaction.rowsRead(in: table)
        try await statement()
        return try await transaction.rowsRead(in: table) - before
    }

    @Test func `what an id is about is found by indexes`() async throws {
        try await withCrowd { transaction in
            let inquiry = PushInquiryRepository(transaction)
            let job = try #require(UUID(uuidString: "00000000-0000-4000-8000-000000000007"))
            let things = try await inquiry.tracedThings(of: job.wireString)
            #expect(things.map(\.kind) == [.notification])
            for table in ["notifications", "app_notifications", "conversation_messages"] {
                let rows = try await read(table, in: transaction) {
                    _ = try await inquiry.tracedThings(of: job.wireString)
                    _ = try await inquiry.notifications(dedupeKeys: PushInquiryRepository.dedupeKeys(about: job))
                    _ = try await inquiry.messages(id: "m-7")
                    _ = try await inquiry.appNotifications(ids: [job], requestID: "req-7")
                }
                #expect(rows <= 8, "\(table)")
            }
            #expect(try await inquiry.appNotifications(ids: [], requestID: "req-7").map(\.kind) == ["sale"])
        }
    }

    @Test func `what waits for a user is found among what waits`() async throws {
        try await withCrowd { transaction in
            let owner: UUID = try await transaction.query("SELECT id FROM users")[0].decode("id")
            let rows = try await read("app_notifications", in: transaction) {
                let found = try await PushInquiryRepository(transaction).scheduledNotifications(for: owner, limit: 10)
                #expect(found.map(\.state) == [.scheduled])
            }
            #expect(rows <= 4)
        }
    }
}
