import Foundation
import PostgresClient
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// Dead letters on a real Redis and a real database, with the consumers and the relay of production.
@Suite("A dead letter", .timeLimit(.minutes(3)))
struct DeadLetterBusTests {
    /// Refuses messages, or takes their effects.
    private final class Handler: EventHandler {
        private let log = Mutex<[Int]>([])
        private let refusal = Mutex(true)

        /// The messages whose effect was begun. A second entry of a handled message, such as one that was published again and stayed in its
        /// stream, begins none.
        var effectsBegun: [Int] { log.withLock { $0 } }
        var refuses: Bool {
            get { refusal.withLock { $0 } }
            set { refusal.withLock { $0 = newValue } }
        }

        func handle(_ event: Envelope<PhotoUploaded>, _ context: HandlerContext) async throws {
            let number = Int(event.body.topic) ?? -1
            _ = try await context.commit { transaction in
                log.withLock { $0.append(number) }
                try await transaction.addEffect(number)
                if refuses { throw TestFailure() }
            }
        }
    }

    /// The servers of a test, which has them alone.
    private struct Bus {
        let server: RedisServer
        let transport: RedisEventTransport
        let postgres: PostgresClient

        /// Publishes messages to groups by the outbox, and returns their ids.
        @discardableResult
        func publish(_ numbers: some Sequence<Int>, groups: [String] = ["group"]) async throws -> [UUID] {
            let messages = try numbers.map { try message($0) }.map { try EncodedEnvelope(streamFields: $0.fields) }
            try await OutboxRepository(postgres).append(messages.map { NewOutboxMessage($0, stream: testStream, groups: groups) })
            return messages.map(\.id)
        }

        func letters(of name: String = "group") async throws -> [DeadLetter] {
            try await DeadLetterRepository(postgres).page(of: group(name), limit: 100)
        }

        func redriveAll(of name: String = "group") async throws -> Int {
            let ids = try await letters(of: name).map(\.id)
            return try await postgres.withTransaction { try await DeadLetterRepository($0).redrive(ids, of: group(name)).ids.count }
        }

        /// Runs a consumer that gives messages up at their first failure.
        func consuming(_ handler: Handler, as name: String = "group", _ body: () async throws -> Void) async throws {
            var configuration = EventConsumerConfiguration.claimingAged
            configuration.retryPolicy.maxFailures = 1
            let consumer = try EventConsumer(
                group: name, transport: transport, postgres: postgres, configuration: configuration, logger: .quiet,
                handlers: [.handler(handler)])
            try await withRunning({ try await consumer.run() }, body)
        }

        /// Runs a relay, and a republisher for what Redis loses.
        func relaying(_ body: () async throws -> Void) async throws {
            var (relaying, republishing) = (OutboxRelayConfiguration(), RepublisherConfiguration())
            relaying.confirmWait = .milliseconds(50)
            republishing.interval = .milliseconds(50)
            republishing.recheck = .milliseconds(50)
            let relay = OutboxRelay(transport: transport, postgres: postgres, configuration: relaying, logger: .quiet)
            let republisher = Republisher(transport: transport, postgres: postgres, configuration: republishing, logger: .quiet)
            try await withRunning({ try await relay.run() }) {
                try await withRunning({ try await republisher.run() }, body)
            }
        }

        /// Waits until the outbox owes nothing.
        func waitUntilConfirmed() async throws {
            try await eventually("every message is confirmed") {
                let backlog = try await OutboxRepository(postgres).backlog()
                return backlog.waiting + backlog.unconfirmed == 0
            }
        }
    }

    private func withBus(_ body: (Bus) async throws -> Void) async throws {
        let server = try await RedisServer.start()
        try await withEffects { postgres, _ in
            try await withRedisTransport(on: server) { transport in
                try await body(Bus(server: server, transport: transport, postgres: postgres))
            }
        }
        await server.stop()
    }

    @Test func `outlives FLUSHALL, is redriven without its stream, and is handled once`() async throws {
        try await withBus { bus in
            let handler = Handler()
            let ids = try await bus.publish(1...5)
            try await bus.consuming(handler) {
                try await bus.relaying {
                    try await eventually("all are dead letters") { try await bus.letters().count == 5 }
                    try await bus.waitUntilConfirmed()
                }
            }
            // After a day the outbox has forgotten them.
            try await bus.postgres.execute("DELETE FROM outbox")
            try await bus.server.cli("FLUSHALL")
            #expect(Set(try await bus.letters().map(\.id)) == Set(ids))
            // Without a relay: an operator does not depend on Redis.
            #expect(try await bus.redriveAll() == 5)
            #expect(try await bus.redriveAll() == 0)
            handler.refuses = false
            try await bus.consuming(handler) {
                try await bus.relaying { try await bus.waitUntilConfirmed() }
            }
            #expect(try await bus.postgres.effects().sorted() == Array(1...5))
            #expect(handler.effectsBegun.sorted() == (1...5).flatMap { [$0, $0] })
            #expect(try await bus.letters().isEmpty)
        }
    }

    @Test func `is redriven once more when Redis loses it again`() async throws {
        try await withBus { bus in
            let handler = Handler()
            try await bus.publish([1])
            try await bus.relaying {
                try await bus.consuming(handler) {
                    try await eventually("it is a dead letter") { try await bus.letters().count == 1 }
                }
                #expect(try await bus.redriveAll() == 1)
                try await eventually("it is in the stream") { try await bus.transport.status(of: group("group")).undelivered == 1 }
                try await bus.server.cli("FLUSHALL")
                handler.refuses = false
                try await bus.consuming(handler) { try await bus.waitUntilConfirmed() }
            }
            #expect(try await bus.postgres.effects() == [1])
        }
    }

    @Test func `whose consumer dies before the acknowledgement is neither handled nor stored again`() async throws {
        try await withBus { bus in
            try await bus.transport.createGroup("group", on: testStream)
            let (handler, victim) = (Handler(), consumer("victim", "group"))
            try await bus.transport.append(1...2)
            try await bus.transport.appendGarbage()
            let reader = try await bus.transport.openReader(victim)
            let entries = try await reader.read(count: 9, wait: .seconds(60), acknowledging: []).entries
            await reader.close()
            let letters = [entries[0], entries[2]].map { NewDeadLetter($0, .failures, error: "refused", failures: 1) }
            #expect(try await PostgresDeadLetters(postgres: bus.postgres).add(letters, of: group("group"), by: "victim") == 2)
            try await bus.transport.age(entries.map(\.id), of: victim, to: .seconds(600))
            handler.refuses = false
            try await bus.consuming(handler) {
                try await eventually("nothing is pending") { try await bus.transport.pendingCount(of: group("group")) == 0 }
            }
            #expect(handler.effectsBegun == [2], "the entry that had no dead letter")
            #expect(try await bus.letters().map(\.consumer) == ["victim", "victim"])
        }
    }

    @Test func `that is redriven before its entry was acknowledged is handled once`() async throws {
        try await withBus { bus in
            try await bus.transport.createGroup("group", on: testStream)
            let (handler, victim) = (Handler(), consumer("victim", "group"))
            try await bus.transport.append([1])
            let reader = try await bus.transport.openReader(victim)
            let entry = try #require(try await reader.read(count: 9, wait: .seconds(60), acknowledging: []).entries.first)
            await reader.close()
            let letter = NewDeadLetter(entry, .failures, error: "refused", failures: 1)
            #expect(try await PostgresDeadLetters(postgres: bus.postgres).add([letter], of: group("group"), by: "victim") == 1)
            #expect(try await bus.redriveAll() == 1)
            try await bus.transport.age([entry.id], of: victim, to: .seconds(600))
            handler.refuses = false
            try await bus.consuming(handler) {
                try await bus.relaying {
                    try await bus.waitUntilConfirmed()
                    try await eventually("nothing is pending") { try await bus.transport.pendingCount(of: group("group")) == 0 }
                }
            }
            #expect(try await bus.postgres.effects() == [1])
            #expect(try await bus.letters().isEmpty)
        }
    }

    @Test func `is of one group: the others neither lose the message nor handle it again`() async throws {
        try await withBus { bus in
            let (refusing, sound) = (Handler(), Handler())
            sound.refuses = false
            try await bus.publish([1], groups: ["group", "other"])
            try await bus.relaying {
                try await bus.consuming(refusing) {
                    try await eventually("it is a dead letter of the one") { try await bus.letters().count == 1 }
                }
                // The dead letter of the one does not keep the other from what Redis loses.
                try await bus.server.cli("FLUSHALL")
                try await bus.consuming(sound, as: "other") { try await bus.waitUntilConfirmed() }
                #expect(sound.effectsBegun == [1])
                // After two weeks the inbox has forgotten what the other has handled, and the outbox the message.
                try await bus.postgres.execute("DELETE FROM inbox WHERE consumer_group = 'other'")
                try await bus.postgres.execute("DELETE FROM outbox")
                #expect(try await bus.redriveAll() == 1)
                refusing.refuses = false
                try await bus.consuming(refusing) {
                    try await bus.consuming(sound, as: "other") {
                        try await bus.waitUntilConfirmed()
                        try await eventually("the other has acknowledged it") {
                            let status = try await bus.transport.status(of: group("other"))
                            return status.undelivered + status.pending == 0
                        }
                    }
                }
            }
            #expect(sound.effectsBegun == [1])
            #expect(refusing.effectsBegun == [1, 1])
            #expect(try await bus.postgres.effects() == [1, 1], "one effect of each group")
        }
    }

    @Test func `that fails again is a dead letter again`() async throws {
        try await withBus { bus in
            let handler = Handler()
            let ids = try await bus.publish([1])
            try await bus.consuming(handler) {
                try await bus.relaying {
                    try await eventually("it is a dead letter") { try await bus.letters().count == 1 }
                    let first = try await bus.letters()[0]
                    #expect(try await bus.redriveAll() == 1)
                    try await eventually("it is one again") { try await bus.letters().first.map { $0.entryID != first.entryID } ?? false }
                    try await bus.waitUntilConfirmed()
                }
            }
            #expect(try await bus.letters().map(\.id) == ids)
            #expect(handler.effectsBegun == [1, 1])
        }
    }

    @Test func `is deleted at its age by a consumer of its group, and not before`() async throws {
        try await withBus { bus in
            let letters = try (1...3).map { number in
                let entry = try message(number)
                let id = try EncodedEnvelope(streamFields: entry.fields).id
                return NewDeadLetter(
                    entryID: .zero, messageID: id, fields: entry.fields, reason: .failures, error: "", failures: 1, crashes: 0)
            }
            #expect(try await PostgresDeadLetters(postgres: bus.postgres).add(letters, of: group("group"), by: "c") == 3)
            try await bus.postgres.execute(
                "UPDATE dead_letters SET dead_lettered_at = now() - interval '30 days' WHERE id = \(letters[0].id)")
            try await bus.consuming(Handler()) {
                try await eventually("the old one is deleted") { try await bus.letters().count == 2 }
            }
            #expect(Set(try await bus.letters().map(\.id)) == Set(letters[1...].map(\.id)))
        }
    }
}
