import EventBus
import FoundationEssentials
import PostgresClient
import ServiceDefaults
import Storage
import Testing
import WireFormat

@testable import TokenRegistry

struct SweeperTests {
    @Test func `a sweep deletes old rows of every table in batches, and keeps the rest`() async throws {
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
