import Foundation
import PostgresClient
import RedisClient
import ServiceLifecycleTestKit
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// A transport that fails when a test says so, before or after it has appended the entries.
struct FaultyTransport: EventAppender {
    enum Fault: Sendable { case none, before, after }
    let base: any EventAppender
    let fault: @Sendable () -> Fault

    func append(_ entries: [OutgoingEntry]) async throws(EventBusError) -> [Result<EntryID, EventBusError>] {
        let fault = fault()
        if fault == .before { throw EventBusError(.unavailable, "a test") }
        let results = try await base.append(entries)
        if fault == .after { throw EventBusError(.unavailable, "a test") }
        return results
    }
}

@Suite("The outbox relay", .timeLimit(.minutes(3)))
struct OutboxRelayTests {
    /// Commits messages with the given numbers to the outbox, in one transaction.
    private func publish(_ numbers: some Sequence<Int> & Sendable, to postgres: PostgresClient) async throws {
        try await postgres.withTransaction { transaction in
            try await OutboxRepository(transaction).publish(
                numbers.map { PhotoUploaded(photoID: UUIDv7.generate(), topic: "\($0)") })
        }
    }

    /// Returns all messages in the stream, as numbers and message ids.
    private func sent(_ transport: any EventTransport) async throws -> [(number: Int, id: UUID)] {
        let group = UUID().uuidString
        try await transport.createGroup(group, on: testStream)
        let reader = try await transport.openReader(consumer("c", group))
        let entries = try await reader.read(count: 100_000, wait: .milliseconds(1), acknowledging: []).entries
        await reader.close()
        return try entries.map { (try number(of: $0), try $0.message.get().id) }
    }

    private func relay(
        _ transport: any EventAppender, _ postgres: PostgresClient,
        _ change: (inout OutboxRelayConfiguration) -> Void = { _ in }
    ) -> OutboxRelay {
        var configuration = OutboxRelayConfiguration()
        configuration.minPoll = .milliseconds(5)
        configuration.maxPoll = .milliseconds(50)
        change(&configuration)
        return OutboxRelay(transport: transport, postgres: postgres, configuration: configuration, logger: .quiet)
    }

    private func expectAllPublished(_ postgres: PostgresClient) async throws {
        try await eventually("no message waits") { try await waiting(postgres) == 0 }
    }

    private func waiting(_ postgres: PostgresClient) async throws -> Int {
        try await OutboxRepository(postgres).backlog().waiting
    }

    @Test(arguments: TransportKind.allCases)
    func `sends all messages in order`(_ kind: TransportKind) async throws {
        try await withEffects { postgres, _ in
            let transport = try await kind.transport()
            try await publish(1...1200, to: postgres)
            try await withRunning({ try await relay(transport, postgres).run() }) {
                try await expectAllPublished(postgres)
            }
            #expect(try await sent(transport).map(\.number) == Array(1...1200))
        }
    }

    @Test func `sends all fields of the envelope`() async throws {
        try await withEffects { postgres, _ in
            let transport = InMemoryEventTransport()
            let event = PhotoUploaded(photoID: UUIDv7.generate(), topic: "event:1")
            let expiry = Date().addingTimeInterval(60).roundedToMilliseconds
            try await OutboxRepository(postgres).publish(
                event, requestID: "req", traceparent: "00-a-b-01", expiresAt: expiry)
            _ = try await relay(transport, postgres).relayBatch()
            try await transport.createGroup("g", on: testStream)
            let reader = try await transport.openReader(consumer("c", "g"))
            let entry = try await reader.read(count: 1, wait: .zero, acknowledging: []).entries[0]
            let envelope = try entry.message.get().decode(PhotoUploaded.self)
            #expect(envelope.body == event)
            #expect(envelope.requestID == "req")
            #expect(envelope.traceparent == "00-a-b-01")
            #expect(envelope.expiresAt == expiry)
        }
    }

    @Test func `wakes when a row is committed, before its next poll`() async throws {
        try await withEffects { postgres, _ in
            let transport = InMemoryEventTransport()
            let relay = relay(transport, postgres) {
                $0.minPoll = .seconds(600)
                $0.maxPoll = .seconds(600)
            }
            try await withRunning({ try await relay.run() }) {
                // The first message may be found when the relay begins; the later ones only by notification.
                for number in 1...5 {
                    try await publish([number], to: postgres)
                    try await expectAllPublished(postgres)
                }
            }
            #expect(try await sent(transport).map(\.number) == Array(1...5))
        }
    }

    @Test func `that dies between append and mark sends the same ids again`() async throws {
        try await withEffects { postgres, _ in
            let transport = InMemoryEventTransport()
            let faults = Mutex<[FaultyTransport.Fault]>([.after])
            let faulty = FaultyTransport(base: transport) { faults.withLock { $0.popLast() ?? .none } }
            try await publish(1...3, to: postgres)
            await #expect(throws: EventBusError.self) { try await relay(faulty, postgres).relayBatch() }
            #expect(try await waiting(postgres) == 3)
            #expect(try await relay(faulty, postgres).relayBatch() == 3)
            let sent = try await sent(transport)
            #expect(sent.map(\.number) == [1, 2, 3, 1, 2, 3])
            #expect(Set(sent.map(\.id)).count == 3)
            #expect(try await waiting(postgres) == 0)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `sends each message once, although several run`(_ kind: TransportKind) async throws {
        try await withEffects { postgres, database in
            let transport = try await kind.transport()
            for first in stride(from: 1, through: 1000, by: 100) {
                try await publish(first..<(first + 100), to: postgres)
            }
            try await withClient(of: database) { other in
                let relays = [postgres, other, postgres, other].map { relay(transport, $0) { $0.batchSize = 30 } }
                try await withRunning({
                    await withTaskGroup { group in
                        for relay in relays { group.addTask { try? await relay.run() } }
                    }
                }) {
                    try await expectAllPublished(postgres)
                }
            }
            #expect(try await sent(transport).map(\.number).sorted() == Array(1...1000))
        }
    }

    @Test func `continues when the transport recovers`() async throws {
        try await withEffects { postgres, _ in
            let transport = InMemoryEventTransport()
            let isDown = Atomic(true)
            let attempts = Atomic(0)
            let faulty = FaultyTransport(base: transport) {
                attempts.add(1, ordering: .relaxed)
                return isDown.load(ordering: .relaxed) ? .before : .none
            }
            try await publish(1...5, to: postgres)
            try await withRunning({ try await relay(faulty, postgres).run() }) {
                try await eventually("it has tried") { attempts.load(ordering: .relaxed) >= 2 }
                #expect(try await waiting(postgres) == 5)
                isDown.store(false, ordering: .relaxed)
                try await expectAllPublished(postgres)
            }
            #expect(try await sent(transport).map(\.number) == Array(1...5))
        }
    }

    @Test func `is not blocked by batches that their stream refuses, and sends those later`() async throws {
        let server = try await RedisServer.shared()
        try await withEffects { postgres, _ in
            try await withRedisTransport(on: server) { transport in
                // A key of another type is in the place of this event's stream.
                try await server.cli("SET", transport.key(of: "image.requested"), "not a stream")
                try await OutboxRepository(postgres).publish((0..<5).map { _ in ImageRequested(jobID: UUID()) })
                try await publish([1], to: postgres)
                let relay = relay(transport, postgres) { $0.batchSize = 2 }
                // Five refused messages are three batches; each is taken again after a second.
                for _ in 0..<10 where try await sent(transport).isEmpty { _ = try await relay.relayBatch() }
                #expect(try await sent(transport).map(\.number) == [1])
                #expect(try await waiting(postgres) == 5)
                try await server.cli("DEL", transport.key(of: "image.requested"))
                try await withRunning({ try await relay.run() }) { try await expectAllPublished(postgres) }
            }
        }
    }

    @Test func `confirms a message without groups, and leaves one with groups open`() async throws {
        try await withEffects { postgres, _ in
            let outbox = OutboxRepository(postgres)
            try await outbox.publish(ImageCompleted(jobID: UUID(), status: .completed))
            try await publish([1, 2], to: postgres)
            #expect(try await relay(InMemoryEventTransport(), postgres).relayBatch() == 3)
            let states = try await postgres.query("SELECT state FROM outbox ORDER BY id")
            #expect(try states.map { try $0.decode("state", as: String.self) } == ["confirmed", "published", "published"])
            #expect(try await outbox.backlog().unconfirmed == 2)
        }
    }

    @Test func `continues after a restart of Redis`() async throws {
        let server = try await RedisServer.start(persistence: .appendOnly)
        try await withEffects { postgres, _ in
            try await withRedisTransport(on: server) { transport in
                try await withRunning({ try await relay(transport, postgres).run() }) {
                    try await publish(1...5, to: postgres)
                    try await expectAllPublished(postgres)
                    await server.stop()
                    try await publish(6...10, to: postgres)
                    try await server.restart()
                    try await expectAllPublished(postgres)
                }
                let numbers = try await sent(transport).map(\.number)
                #expect(Set(numbers) == Set(1...10))
            }
        }
        await server.stop()
    }

    @Test func `sends the messages that were committed last before it ends`() async throws {
        try await withEffects { postgres, _ in
            let transport = InMemoryEventTransport()
            let relay = relay(transport, postgres) {
                $0.minPoll = .seconds(600)
                $0.maxPoll = .seconds(600)
            }
            try await testGracefulShutdown { trigger in
                async let running: Void = relay.run()
                try await publish([1], to: postgres)
                trigger.triggerGracefulShutdown()
                try await running
            }
            #expect(try await sent(transport).map(\.number) == [1])
        }
    }
}
