import EventBus
import FoundationEssentials
import PostgresClient
import Push
import ServiceDefaults
import Testing
import WireFormat

@testable import TokenRegistry

struct SweeperTests {
    @Test func `every step runs with the role of the service, on an empty and on a filled database`() async throws {
        try await Registry.run { registry in
            let sweeper = TokenRegistry.sweeper(postgres: registry.service, expirySlices: 1, logger: registry.logger)
            let nothing = await sweeper.sweep()
            #expect(nothing == Dictionary(uniqueKeysWithValues: sweeper.stepNames.map { ($0, 0) }))
            try await fill(registry)
            let swept = await sweeper.sweep()
            // The guard and the counts only look.
            let others: Set = ["push_guard", "sealed_values"]
            for step in sweeper.stepNames {
                let count = try #require(swept[step], "\(step) failed")
                #expect(others.contains(step) || count > 0, "\(step)")
            }
        }
    }

    /// Makes rows that are due for every step.
    private func fill(_ registry: Registry) async throws {
        for token in ["old:1", "overdue:1"] { try await registry.request(.make(.session(try await registry.makeSession(token: token)))) }
        try await registry.client.withTransaction { transaction in
            try await transaction.script(
                """
                UPDATE notifications SET created_at = now() - interval '31 days'
                WHERE id = (SELECT id FROM notifications ORDER BY id LIMIT 1);
                UPDATE notifications SET expires_at = now() - interval '1 hour' WHERE created_at > now() - interval '1 day';
                UPDATE push_installs SET last_seen_at = now() - interval '25 hours';
                UPDATE push_install_audit SET at = now() - interval '91 days';
                INSERT INTO push_outcomes (minute, shard, sent, dead) VALUES (now() - interval '30 days', 1, 1, 1);
                INSERT INTO push_install_rates (install_id, minute_tokens, hour_tokens, filled_at)
                VALUES (gen_random_uuid(), 1, 1, now() - interval '30 days');
                UPDATE outbox SET state = 'confirmed', settled_at = now() - interval '2 days'
                """)
            // Retention goes by the times in the ids of messages.
            let old = UUIDv7.generate(at: Date(timeIntervalSinceNow: -15 * 86400))
            try await transaction.execute("UPDATE outbox SET message_id = \(old) WHERE id = (SELECT min(id) FROM outbox)")
            try await transaction.execute(
                "INSERT INTO inbox (consumer_group, message_id, handled_at) VALUES ('g', \(old), now() - interval '15 days')")
        }
    }

    @Test func `a sweep deletes old rows in batches, and keeps the rest`() async throws {
        try await Registry.run { registry in
            for number in 0..<5 {
                try await registry.request(.make(.session(try await registry.makeSession(token: "old\(number):1"))))
            }
            try await registry.client.execute("UPDATE notifications SET created_at = now() - interval '31 days'")
            try await registry.client.execute("UPDATE push_installs SET last_seen_at = now() - interval '25 hours'")
            let old = (0..<5).map { UUIDv7.generate(at: Date(timeIntervalSinceNow: -15 * 86400 - Double($0))) }
            let inbox = InboxRepository(registry.client)
            _ = try await inbox.markHandled(group: "g", ids: old)
            try await registry.client.execute("UPDATE inbox SET handled_at = now() - interval '15 days'")
            // Two messages of two days ago: one was handled, one was not.
            let outbox = OutboxRepository(registry.client)
            let dayBeforeYesterday = Date(timeIntervalSinceNow: -2 * 86400)
            let messages = try (0..<2).map { _ in
                try NewOutboxMessage(
                    Envelope(UserErased(erasureID: UUID()), id: UUIDv7.generate(at: dayBeforeYesterday)))
            }
            try await outbox.append(messages)
            try await registry.client.execute(
                """
                UPDATE outbox SET state = 'confirmed', settled_at = now() - interval '2 days'
                WHERE message_id = \(messages[0].envelope.id)
                """)

            let young = NotificationRequested.make(.session(try await registry.makeSession(token: "young:1")))
            try await registry.request(young)
            let message = UUIDv7.generate()
            _ = try await inbox.markHandled(group: "g", ids: [message])

            let sweeper = TokenRegistry.sweeper(postgres: registry.service, batchSize: 2, expirySlices: 1, logger: registry.logger)
            try await registry.client.execute("UPDATE push_install_audit SET at = now() - interval '91 days' WHERE id <= 3")
            let expected = [
                "overdue_notifications": 0, "push_installs": 5, "push_guard": 0, "push_install_audit": 3, "push_outcomes": 0,
                "notifications": 10, "push_install_rates": 0, "outbox": 1, "inbox": 5, "sealed_values": 0,
            ]
            let swept = await sweeper.sweep()
            #expect(swept == expected)
            #expect(try await registry.client.query("SELECT FROM delivery_pages").count == 1, "that of the young notification")
            let again = await sweeper.sweep()
            #expect(again.values.reduce(0, +) == 0)
            #expect(try await registry.install("young:1") != nil)
            #expect(try await registry.notification(young) != nil)
            #expect(try await inbox.handled(group: "g", ids: old + [message]) == [message])
        }
    }
}
