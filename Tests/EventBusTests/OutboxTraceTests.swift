import EventBus
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct OutboxTraceTests {
    @Test func `the messages of a request are listed in order, with the groups that have handled them`() async throws {
        try await withStorage { client in
            let outbox = OutboxRepository(client)
            let session = UUIDv7.generate()
            try await outbox.publish(EkycRequested(sessionID: session, event: .signIn, lane: .new), requestID: "r-1")
            try await outbox.publish(
                NotificationAddressed(notificationID: UUID(), pageID: UUID(), count: 1, lane: .bulk), requestID: "r-1")
            try await outbox.publish(EkycRequested(sessionID: UUID(), event: .signIn, lane: .new), requestID: "r-2")
            let first = try await outbox.takeBatch(limit: 1).map(\.envelope.id)
            try await outbox.markPublished(
                [OutboxPublication(messageID: first[0], entryID: "17-0")], wait: .zero, maxWait: .zero)
            _ = try await InboxRepository(client).markHandled(group: "face-matching-worker", ids: first)

            let messages = try await outbox.messages(requestID: "r-1")
            #expect(messages.map(\.envelope.type) == [.ekycRequested, .notificationAddressed])
            #expect(messages[0].envelope.key == session.wireString)
            #expect(messages.map(\.state) == [.published, .waiting])
            #expect(messages.map(\.publications) == [1, 0])
            #expect(messages.map(\.entryID) == ["17-0", nil])
            #expect(messages.map { $0.handlings.map(\.group) } == [["face-matching-worker"], ["notifier"]])
            #expect(messages.map { $0.handlings.allSatisfy { $0.handledAt != nil } } == [true, false])
            #expect(try await outbox.messages(requestID: "unknown").isEmpty)
        }
    }
}
