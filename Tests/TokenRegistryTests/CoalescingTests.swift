import FoundationEssentials
import PostgresClient
import PostgresClient
import Storage
import Testing
import WireFormat

@testable import TokenRegistry

/// When a push that waits is replaced by a newer one of the same subject.
struct CoalescingTests {
    private func chat(_ text: String = "conversation:7") -> NotificationRequested {
        NotificationRequested(
            dedupeKey: UUID().uuidString, kind: .chatMessage, recipient: .topic(text), lane: .urgent,
            parameters: ["message_id": "m"], expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    private func delivery(_ request: NotificationRequested, _ registry: Registry) async throws -> Delivery? {
        try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).first
    }

    /// A conversation, and what was said in it before and did not leave for a while.
    private func withBacklog(_ body: (Registry, NotificationRequested) async throws -> Void) async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            try await registry.makeTopic("conversation:7", owner: ada, members: [])
            try await registry.makeTopic("conversation:8", owner: ada, members: [])
            let first = chat()
            try await registry.request(first)
            try await registry.client.execute("UPDATE deliveries SET created_at = now() - interval '3 seconds'")
            try await body(registry, first)
        }
    }

    @Test func `the newest message takes the place of one that waits, which is closed`() async throws {
        try await withBacklog { registry, first in
            let second = chat()
            try await registry.request(second)
            #expect(try await delivery(first, registry)?.state == .skipped)
            #expect(try await delivery(first, registry)?.code == "superseded")
            #expect(try await registry.notification(first)?.state == .settled)
            #expect(try await delivery(second, registry)?.state == .pending)
        }
    }

    @Test func `a message just before is no backlog`() async throws {
        try await withBacklog { registry, first in
            try await registry.client.withTransaction { transaction in
                // In one transaction it is the same moment throughout, however busy the machine is.
                try await transaction.execute("UPDATE deliveries SET created_at = now() - interval '1.9 seconds'")
                try await registry.requestedHandler.handle([Envelope(chat())], in: transaction)
            }
            #expect(try await delivery(first, registry)?.state == .pending)
        }
    }

    @Test func `another conversation, another kind and a push that was tried are left alone`() async throws {
        try await withBacklog { registry, first in
            try await registry.request(chat("conversation:8"))
            try await registry.request(.make(.topic("conversation:7"), kind: .jobCompleted))
            #expect(try await delivery(first, registry)?.state == .pending)
            try await registry.client.execute("UPDATE deliveries SET attempt = 1, code = 'UNAVAILABLE', due_at = now()")
            try await registry.request(chat())
            #expect(try await delivery(first, registry)?.state == .pending)
        }
    }
}
