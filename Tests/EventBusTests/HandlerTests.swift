import Foundation
import PostgresClient
import Schema
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// A handler that returns without a commit.
private struct IdleHandler: EventHandler {
    func handle(_ event: Envelope<PhotoUploaded>, _ context: HandlerContext) async throws {}
}

/// A handler that commits the number of a message, and runs closures of the test before, within and after the transaction.
private struct EffectHandler: EventHandler {
    var before: @Sendable (Int, HandlerContext) async throws -> Void = { _, _ in }
    var within: @Sendable (Int, PostgresTransaction) async throws -> Void = { _, _ in }
    var after: @Sendable (Int, HandlerContext) async throws -> Void = { _, _ in }

    func handle(_ event: Envelope<PhotoUploaded>, _ context: HandlerContext) async throws {
        let number = Int(event.body.topic) ?? -1
        try await before(number, context)
        _ = try await context.commit { transaction in
            try await transaction.addEffect(number)
            try await within(number, transaction)
        }
        try await after(number, context)
    }
}

private struct EffectBatchHandler: EventBatchHandler {
    var batches = BatchLog()
    var within: @Sendable ([Int]) async throws -> Void = { _ in }

    final class BatchLog: Sendable {
        private let log = Mutex<[[Int]]>([])
        var all: [[Int]] { log.withLock { $0 } }
        func note(_ batch: [Int]) { log.withLock { $0.append(batch) } }
    }

    func handle(_ events: [Envelope<PhotoUploaded>], in transaction: PostgresTransaction) async throws {
        let numbers = events.map { Int($0.body.topic) ?? -1 }
        batches.note(numbers)
        for number in numbers { try await transaction.addEffect(number) }
        try await within(numbers)
    }
}

@Suite("Handlers", .timeLimit(.minutes(3)))
struct HandlerTests {
    /// Runs a consumer with one handler until `body` returns, over a transport and a database of its own.
    private func withHandler(
        _ kind: TransportKind, _ registration: EventHandlerRegistration,
        _ body: (any EventTransport, PostgresClient) async throws -> Void
    ) async throws {
        try await withEffects { postgres, _ in
            let transport = try await kind.transport()
            let consumer = try EventConsumer(
                group: "tests", transport: transport, postgres: postgres, configuration: .quick, logger: .quiet,
                handlers: [registration])
            try await withRunning({ try await consumer.run() }) { try await body(transport, postgres) }
        }
    }

    private func expectSettled(_ transport: any EventTransport, pending: Int = 0) async throws {
        try await eventually("\(pending) messages are pending") {
            try await transport.pendingCount(of: group("tests")) == pending
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `take each effect once, although a message is sent several times`(_ kind: TransportKind) async throws {
        try await withHandler(kind, .handler(EffectHandler())) { transport, postgres in
            let repeated = try message(1)
            _ = try await transport.append([repeated, repeated, try message(2), repeated])
            try await eventually("both effects are there") { try await postgres.effects().count == 2 }
            try await expectSettled(transport)
            #expect(try await postgres.effects().sorted() == [1, 2])
            #expect(try await postgres.count("inbox") == 2)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `that return without a commit mark the message as handled`(_ kind: TransportKind) async throws {
        try await withHandler(kind, .handler(IdleHandler())) { transport, postgres in
            try await transport.append([1, 2])
            try await eventually("both messages are marked") { try await postgres.count("inbox") == 2 }
            try await expectSettled(transport)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `of batches take each effect once, also for a message that is in a batch twice`(_ kind: TransportKind) async throws {
        try await withHandler(kind, .batchHandler(EffectBatchHandler())) { transport, postgres in
            let repeated = try message(1)
            _ = try await transport.append([repeated, repeated, try message(2), repeated])
            try await eventually("the last effect is there") { try await postgres.effects().contains(2) }
            try await expectSettled(transport)
            #expect(try await postgres.effects() == [1, 2])
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `that fail after their commit have no second effect`(_ kind: TransportKind) async throws {
        let runs = Mutex(0)
        let handler = EffectHandler(
            before: { _, _ in runs.withLock { $0 += 1 } },
            after: { _, context in if context.deliveryCount == 1 { throw TestFailure() } })
        try await withHandler(kind, .handler(handler)) { transport, postgres in
            try await transport.append([1])
            try await eventually("the effect is there") { try await !postgres.effects().isEmpty }
            try await expectSettled(transport)
            #expect(try await postgres.effects() == [1])
            // The second delivery was recognised as a duplicate before the handler ran.
            #expect(runs.withLock { $0 } == 1)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `do not see a message again whose effect is there, even if it cannot be read any more`(_ kind: TransportKind) async throws {
        try await withHandler(kind, .handler(EffectHandler())) { transport, postgres in
            let id = UUIDv7.generate()
            _ = try await InboxRepository(postgres).markHandled(group: "tests", ids: [id])
            var fields = try message(1, id: id).fields.filter { $0.name != EncodedEnvelope.Field.body.name }
            fields.append((name: EncodedEnvelope.Field.body.name, value: Array("{".utf8)))
            fields.append((name: RetryField.failures, value: Array("1".utf8)))
            fields.append((name: RetryField.groups, value: Array("tests".utf8)))
            _ = try await transport.append([OutgoingEntry(stream: testStream, fields: fields), try message(2)])
            try await eventually("the effect of the next message is there") { try await postgres.effects() == [2] }
            try await expectSettled(transport)
            #expect(try await postgres.count("dead_letters") == 0)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `that fail within their transaction have no effect and are retried`(_ kind: TransportKind) async throws {
        let failures = Mutex(2)
        let handler = EffectHandler(within: { _, _ in
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw TestFailure() }
        })
        try await withHandler(kind, .handler(handler)) { transport, postgres in
            try await transport.append([1])
            try await eventually("the effect is there") { try await !postgres.effects().isEmpty }
            try await expectSettled(transport)
            #expect(try await postgres.effects() == [1])
            #expect(failures.withLock { $0 } == -1)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `of batches handle the other messages of a batch with a bad one`(_ kind: TransportKind) async throws {
        let handler = EffectBatchHandler(within: { if $0.contains(13) { throw TestFailure() } })
        try await withHandler(kind, .batchHandler(handler)) { transport, postgres in
            try await transport.append(1...30)
            try await eventually("29 effects are there") { try await postgres.effects().count == 29 }
            // The bad message is in work, waiting for its retry, or a dead letter.
            try await eventually("only the bad one is left") {
                let status = try await transport.status(of: group("tests"))
                let dead = try await postgres.count("dead_letters")
                return status.pending + status.retrying + status.undelivered + dead == 1
            }
            try await transport.append([31])
            try await eventually("the stream goes on") { try await postgres.effects().contains(31) }
            #expect(try await !postgres.effects().contains(13))
            #expect(try await postgres.count("effects") == 30)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `of batches get at most the configured number of messages, in order`(_ kind: TransportKind) async throws {
        let handler = EffectBatchHandler()
        try await withHandler(kind, .batchHandler(handler)) { transport, postgres in
            try await transport.append(1...450)
            try await eventually("all effects are there") { try await postgres.effects().count == 450 }
            try await expectSettled(transport)
            #expect(try await postgres.effects() == Array(1...450))
            #expect(handler.batches.all.allSatisfy { $0.count <= 100 })
            #expect(handler.batches.all.count < 100)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `do not get unreadable messages or messages of a newer version`(_ kind: TransportKind) async throws {
        try await withHandler(kind, .handler(EffectHandler())) { transport, postgres in
            try await transport.appendGarbage()
            let future = try EncodedEnvelope(
                id: UUIDv7.generate(), type: PhotoUploaded.type, version: 2, key: "1", occurredAt: Date(), body: [])
            _ = try await transport.append([OutgoingEntry(stream: testStream, envelope: future)])
            try await transport.append([1])
            try await eventually("the readable one is handled") { try await postgres.effects() == [1] }
            try await eventually("the others are dead letters") {
                let letters = try await DeadLetterRepository(postgres).page(of: group("tests"), limit: 9)
                return letters.map(\.reason) == [.unreadable, .unreadable]
            }
            try await expectSettled(transport)
        }
    }

    @Test func `publish in their transaction, with the request id and the trace`() async throws {
        try await withEffects { postgres, _ in
            let cause = Envelope(PhotoUploaded(photoID: UUID(), topic: "t"), traceparent: "00-a-b-01", requestID: "req-1")
            try await postgres.withTransaction { transaction in
                try await OutboxRepository(transaction).publish(ImageRequested(jobID: UUID()), causedBy: cause)
            }
            await #expect(throws: TestFailure.self) {
                try await postgres.withTransaction { transaction in
                    try await OutboxRepository(transaction).publish(ImageRequested(jobID: UUID()), requestID: "req-2")
                    throw TestFailure()
                }
            }
            let messages = try await postgres.withTransaction { try await OutboxRepository($0).takeBatch(limit: 10) }
            #expect(messages.map(\.stream) == ["image.requested"])
            #expect(messages.map(\.envelope.requestID) == ["req-1"])
            #expect(messages.map(\.envelope.traceparent) == ["00-a-b-01"])
        }
    }

    @Test func `must not be registered twice for a stream`() async throws {
        try await withEffects { postgres, _ in
            #expect {
                try EventConsumer(
                    group: "g", transport: InMemoryEventTransport(), postgres: postgres, logger: .quiet,
                    handlers: [.handler(EffectHandler()), .batchHandler(EffectBatchHandler())])
            } throws: {
                ($0 as? EventBusError)?.code == .invalidConfiguration
            }
        }
    }

    @Test func `continue after a restart of the database`() async throws {
        let server = try await PostgresServer.start()
        let postgres = try PostgresClient(configuration: PostgresConfiguration(url: server.url()), logger: .quiet)
        _ = try await MigrationRunner(client: postgres, migrations: HeliographSchema.migrations).migrate()
        try await postgres.execute("CREATE TABLE effects (at bigserial, number bigint NOT NULL)")
        let transport = InMemoryEventTransport()
        let consumer = try EventConsumer(
            group: "tests", transport: transport, postgres: postgres, configuration: .quick, logger: .quiet,
            handlers: [.batchHandler(EffectBatchHandler())])
        try await withRunning({ try await consumer.run() }) {
            try await transport.append(1...10)
            try await eventually("the first effects are there") { try await postgres.effects().count == 10 }
            await server.kill()
            try await transport.append(11...20)
            try await server.start()
            try await eventually("all effects are there") {
                (try? await postgres.effects().sorted()) == Array(1...20)
            }
            try await expectSettled(transport)
        }
        await postgres.shutdown()
        await server.stop()
    }
}
