import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

/// A newer push of the same subject supersedes a pending one.
struct CoalescingTests {
    private func photos(
        _ topic: String = "event:7", kind: NotificationKind = .newPhotos, in registry: Registry
    ) async throws -> NotificationRequested {
        NotificationRequested(
            dedupeKey: UUID().uuidString, content: .sample(kind, topic: topic, topicID: try await registry.topicID(topic)),
            recipient: .topic(topic), lane: .urgent, expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    private func delivery(_ request: NotificationRequested, _ registry: Registry) async throws -> Delivery? {
        try await DeliveryRepository(registry.client).find(notificationID: request.notificationID).first
    }

    /// Runs `body` with a topic that has a push pending for three seconds.
    private func withBacklog(_ body: (Registry, NotificationRequested) async throws -> Void) async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            try await registry.makeTopic("event:7", owner: ada, members: [])
            try await registry.makeTopic("event:8", owner: ada, members: [])
            let first = try await photos(in: registry)
            try await registry.request(first)
            try await registry.client.execute("UPDATE delivery_pages SET created_at = now() - interval '3 seconds'")
            try await body(registry, first)
        }
    }

    @Test func `the newest push of an event supersedes a pending one, whose notification is settled`() async throws {
        try await withBacklog { registry, first in
            let second = try await photos(in: registry)
            try await registry.request(second)
            #expect(try await delivery(first, registry)?.state == .skipped)
            #expect(try await delivery(first, registry)?.code == "superseded")
            #expect(try await registry.notification(first)?.state == .settled)
            #expect(try await delivery(second, registry)?.state == .pending)
        }
    }

    @Test func `a push pending for less than two seconds is not superseded`() async throws {
        try await withBacklog { registry, first in
            let second = try await photos(in: registry)
            try await registry.client.withTransaction { transaction in
                // In one transaction it is the same moment throughout, however busy the machine is.
                try await transaction.execute("UPDATE delivery_pages SET created_at = now() - interval '1.9 seconds'")
                try await registry.requestedHandler.handle([Envelope(second)], in: transaction)
            }
            #expect(try await delivery(first, registry)?.state == .pending)
        }
    }

    @Test func `pushes of another event or kind, and attempted pushes, are not superseded`() async throws {
        try await withBacklog { registry, first in
            try await registry.request(photos("event:8", in: registry))
            try await registry.request(.make(.topic("event:7"), kind: .jobCompleted))
            #expect(try await delivery(first, registry)?.state == .pending)
            try await registry.client.execute("UPDATE delivery_pages SET attempt = 1, code = 'UNAVAILABLE', due_at = now()")
            try await registry.request(photos(in: registry))
            #expect(try await delivery(first, registry)?.state == .pending)
        }
    }

    @Test func `the newest ten of the pending messages of a conversation are kept`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            try await registry.makeTopic("conversation:7", owner: ada, members: [])
            var messages: [NotificationRequested] = []
            for _ in 0..<12 {
                let message = try await photos("conversation:7", kind: .chatMessage, in: registry)
                try await registry.request(message)
                try await registry.client.execute("UPDATE delivery_pages SET created_at = now() - interval '3 seconds'")
                messages.append(message)
            }
            var codes: [String?] = []
            for message in messages { codes.append(try await delivery(message, registry)?.code) }
            #expect(codes == ["superseded", "superseded"] + [String?](repeating: nil, count: 10))
        }
    }
}
