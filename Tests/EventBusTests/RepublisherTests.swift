import Foundation
import PostgresClient
import RedisClient
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import EventBus

/// A handler that stores the number of a message as its effect, in the group that has to handle photos.
private struct NumberHandler: EventBatchHandler {
    func handle(_ events: [Envelope<PhotoUploaded>], in transaction: PostgresTransaction) async throws {
        for event in events { try await transaction.addEffect(Int(event.body.topic) ?? -1) }
    }
}

@Suite("The republisher", .timeLimit(.minutes(3)))
struct RepublisherTests {
    private static let group = PhotoUploaded.groups[0]

    private struct Bench {
        let postgres: PostgresClient
        let transport: any EventTransport

        /// Commits messages with the given numbers.
        func publish(_ numbers: some Sequence<Int> & Sendable, expiresAt: Date? = nil) async throws {
            try await postgres.withTransaction { transaction in
                try await OutboxRepository(transaction).publish(
                    numbers.map { PhotoUploaded(photoID: UUIDv7.generate(), topic: "\($0)") }, expiresAt: expiresAt)
            }
        }

        /// Returns a relay whose messages are due for a check at once.
        func relay(over other: (any EventAppender)? = nil) -> OutboxRelay {
            var configuration = OutboxRelayConfiguration()
            configuration.minPoll = .milliseconds(5)
            configuration.maxPoll = .milliseconds(50)
            configuration.confirmWait = .zero
            return OutboxRelay(
                transport: other ?? transport, postgres: postgres, configuration: configuration, logger: .quiet)
        }

        var republisher: Republisher { republisher(of: nil) }

        func republisher(of group: String?) -> Republisher {
            var configuration = RepublisherConfiguration()
            configuration.interval = .milliseconds(20)
            configuration.recheck = .zero
            configuration.maxInFlight = 500
            return Republisher(transport: transport, postgres: postgres, group: group, configuration: configuration, logger: .quiet)
        }

        /// Relays until no message waits.
        func relayAll() async throws {
            while try await relay().relayBatch() > 0 {}
        }

        func consumer() throws -> EventConsumer {
            try EventConsumer(
                group: RepublisherTests.group, transport: transport, postgres: postgres, configuration: .quick,
                logger: .quiet, handlers: [.batchHandler(NumberHandler())])
        }

        func expectEffects(_ numbers: some Sequence<Int>) async throws {
            let expected = numbers.sorted()
            try await eventually("\(expected.count) effects are taken") { try await postgres.count("effects") >= expected.count }
            #expect(try await postgres.effects().sorted() == expected)
        }

        func expectAllConfirmed() async throws {
            try await eventually("everything is confirmed") {
                let backlog = try await OutboxRepository(postgres).backlog()
                return backlog.waiting + backlog.unconfirmed == 0
            }
        }

        func publications() async throws -> [Int] {
            try await postgres.query("SELECT publications FROM outbox ORDER BY id")
                .map { Int(try $0.decode("publications", as: Int32.self)) }
        }
    }

    private func withBench(_ kind: TransportKind, _ body: (Bench) async throws -> Void) async throws {
        try await withEffects { postgres, _ in
            try await body(Bench(postgres: postgres, transport: try await kind.transport()))
        }
    }

    /// Runs `body` with a Redis server of its own, which it may wipe.
    private func withServer(
        _ body: (Bench, RedisServer) async throws -> Void
    ) async throws {
        let server = try await RedisServer.start(persistence: .none)
        try await withEffects { postgres, _ in
            try await withRedisTransport(on: server) { try await body(Bench(postgres: postgres, transport: $0), server) }
        }
        await server.stop()
    }

    @Test func `leaves the messages of other groups to their services`() async throws {
        try await withServer { bench, server in
            try await bench.publish(1...3)
            try await bench.relayAll()
            try await server.cli("FLUSHALL")
            #expect(try await bench.republisher(of: "notifier").runRound() == Republisher.Round())
            #expect(try await bench.republisher(of: RepublisherTests.group).runRound() == Republisher.Round(republished: 3))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `confirms handled messages, and republishes none`(_ kind: TransportKind) async throws {
        try await withBench(kind) { bench in
            try await bench.publish(1...700)
            try await bench.relayAll()
            let consumer = try bench.consumer()
            try await withRunning({ try await consumer.run() }) { try await bench.expectEffects(1...700) }
            #expect(try await bench.republisher.runRound() == Republisher.Round(confirmed: 700))
            #expect(try await bench.republisher.runRound() == Republisher.Round())
            #expect(try await bench.publications().allSatisfy { $0 == 1 })
        }
    }

    @Test func `republishes all messages of a wiped Redis, and each effect is taken once`() async throws {
        try await withServer { bench, server in
            try await bench.publish(1...600)
            try await bench.relayAll()
            try await server.cli("FLUSHALL")
            #expect(try await bench.republisher.runRound() == Republisher.Round(republished: 600))
            try await bench.relayAll()
            let consumer = try bench.consumer()
            try await withRunning({ try await consumer.run() }) { try await bench.expectEffects(1...600) }
            #expect(try await bench.republisher.runRound() == Republisher.Round(confirmed: 600))
        }
    }

    @Test func `republishes only the messages that a Redis with an older state has lost`() async throws {
        try await withServer { bench, server in
            try await bench.publish(1...5)
            try await bench.relayAll()
            try await server.cli("SAVE")
            try await bench.publish(6...8)
            try await bench.relayAll()
            await server.kill()
            try await server.restart()
            let round = try await bench.republisher.runRound()
            #expect(round == Republisher.Round(inFlight: 5, republished: 3))
            try await bench.relayAll()
            let consumer = try bench.consumer()
            try await withRunning({ try await consumer.run() }) { try await bench.expectEffects(1...8) }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `leaves an unread backlog alone`(_ kind: TransportKind) async throws {
        try await withBench(kind) { bench in
            try await bench.publish(1...5000)
            try await bench.relayAll()
            for _ in 0..<12 {
                let round = try await bench.republisher.runRound()
                #expect(round == Republisher.Round(inFlight: 500))
            }
            #expect(try await bench.publications().allSatisfy { $0 == 1 })
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `leaves pending messages alone`(_ kind: TransportKind) async throws {
        try await withBench(kind) { bench in
            try await bench.publish([1])
            try await bench.relayAll()
            try await bench.transport.createGroup(Self.group, on: testStream)
            let slow = consumer("slow", Self.group)
            let reader = try await bench.transport.openReader(slow)
            let entry = try await reader.read(count: 1, wait: .seconds(5), acknowledging: []).entries[0]
            #expect(try await bench.republisher.runRound() == Republisher.Round(inFlight: 1))
            // Acknowledged without an effect, as by a faulty handler: the same as a lost message.
            _ = try await bench.transport.acknowledge([entry.id], by: slow)
            #expect(try await bench.republisher.runRound() == Republisher.Round(republished: 1))
            await reader.close()
        }
    }

    @Test func `does not republish a lost message that has expired`() async throws {
        try await withServer { bench, server in
            try await bench.publish([1], expiresAt: Date().addingTimeInterval(-1))
            try await bench.publish([2])
            try await bench.relayAll()
            #expect(try await bench.republisher.runRound() == Republisher.Round(inFlight: 2))
            try await server.cli("FLUSHALL")
            #expect(try await bench.republisher.runRound() == Republisher.Round(republished: 1, expired: 1))
            #expect(try await bench.republisher.runRound() == Republisher.Round())
        }
    }

    @Test func `a relay that dies between append and mark, and a wiped Redis, have no second effect`() async throws {
        try await withServer { bench, server in
            let faults = Mutex<[FaultyTransport.Fault]>([.after])
            let faulty = FaultyTransport(base: bench.transport) { faults.withLock { $0.popLast() ?? .none } }
            try await bench.publish(1...20)
            await #expect(throws: EventBusError.self) { try await bench.relay(over: faulty).relayBatch() }
            let consumer = try bench.consumer()
            try await withRunning({ try await consumer.run() }) {
                try await bench.expectEffects(1...20)
                #expect(try await bench.relay(over: faulty).relayBatch() == 20)
                try await bench.publish(21...40)
                try await bench.relayAll()
                try await bench.expectEffects(1...40)
            }
            #expect(try await bench.republisher.runRound() == Republisher.Round(confirmed: 40))
        }
    }

    @Test func `two relays and two republishers lose no message of a Redis that is wiped repeatedly`() async throws {
        try await withServer { bench, server in
            let (relay, republisher, consumer) = (bench.relay(), bench.republisher, try bench.consumer())
            try await withRunning({
                try await withThrowingTaskGroup { group in
                    for _ in 0..<2 {
                        group.addTask { try await relay.run() }
                        group.addTask { try await republisher.run() }
                    }
                    group.addTask { try await consumer.run() }
                    try await group.waitForAll()
                }
            }) {
                for first in stride(from: 1, through: 1000, by: 100) {
                    try await bench.publish(first..<(first + 100))
                    if first % 300 == 1 { try await server.cli("FLUSHALL") }
                }
                try await bench.expectEffects(1...1000)
                try await bench.expectAllConfirmed()
            }
            #expect(try await bench.postgres.effects().sorted() == Array(1...1000))
        }
    }
}
