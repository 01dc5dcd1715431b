import CoreMetrics
import EventBus
import Foundation
import Logging
import PostgresClient
import RedisClient
import TestSupport
import Testing
import WireFormat

@testable import ServiceDefaults

/// What an operator sees of the dead letters in the database: the gauges of a consumer, as Prometheus reads them.
struct DeadLetterGaugeTests {
    private struct Handler: EventHandler {
        func handle(_ event: Envelope<PhotoUploaded>, _ context: HandlerContext) async throws {}
    }

    private static let group = StreamGroup(stream: PhotoUploaded.type.rawValue, name: "watched")
    private let registry = PrometheusRegistry()

    /// Returns the value of a gauge of the group; nil while it has no value.
    private func value(_ gauge: String) -> Double? {
        let labels = #"{group="\#(Self.group.name)",stream="\#(Self.group.stream)"} "#
        let lines = registry.exposition().split(separator: "\n").filter { $0.hasPrefix(gauge + labels) }
        return lines.count == 1 ? lines[0].split(separator: " ").last.flatMap { Double($0) } : nil
    }

    private func waitForDepth(_ depth: Double) async throws {
        try await eventually("\(depth) dead letters are shown") { value("bus_dead_letter_depth") == depth }
    }

    /// Has messages given up by a group, and returns their ids.
    private func giveUp(_ count: Int, by group: StreamGroup, in postgres: PostgresClient) async throws -> [UUID] {
        let letters = try (0..<count).map { _ in
            let message = try Envelope(PhotoUploaded(photoID: UUIDv7.generate(), topic: "t"), id: UUIDv7.generate()).encoded()
            return NewDeadLetter(
                entryID: .zero, messageID: message.id, fields: message.streamFields, reason: .failures, error: "refused", failures: 1,
                crashes: 0)
        }
        let added = try await postgres.withTransaction { try await DeadLetterRepository($0).add(letters, of: group, by: "c") }
        #expect(added == count)
        return letters.map(\.id)
    }

    private func redrive(_ id: UUID, in postgres: PostgresClient) async throws {
        let redriven = try await postgres.withTransaction { try await DeadLetterRepository($0).redrive([id], of: Self.group) }
        #expect(redriven.ids == [id])
    }

    private func age(_ id: UUID, by seconds: Int, in postgres: PostgresClient) async throws {
        try await postgres.execute(
            "UPDATE dead_letters SET dead_lettered_at = now() - make_interval(secs => \(Double(seconds))) WHERE id = \(id)")
    }

    /// Runs a consumer of the group whose metrics the registry has.
    private func consuming(_ postgres: PostgresClient, _ body: () async throws -> Void) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let client = RedisClient(configuration: try RedisConfiguration(url: try await RedisServer.shared().url), logger: logger)
        let transport = RedisEventTransport(client: client, keyPrefix: RedisServer.uniquePrefix())
        var configuration = EventConsumerConfiguration()
        (configuration.maintenanceInterval, configuration.deadLetterInterval) = (.milliseconds(50), .zero)
        let consumer = try withMetricsFactory(PrometheusMetricsFactory(registry: registry)) {
            try EventConsumer(
                group: Self.group.name, transport: transport, postgres: postgres, configuration: configuration, logger: logger,
                handlers: [.handler(Handler(), streams: [Self.group.stream])])
        }
        try await finally(client.shutdown) {
            let running = Task { try await consumer.run() }
            try await finally({
                running.cancel()
                _ = await running.result
            }) { try await body() }
        }
    }

    @Test func `the gauge of a group's dead letters is their number in the database, before and after a redrive and an expiry`()
        async throws
    {
        try await withStorage { postgres in
            let ids = try await giveUp(3, by: Self.group, in: postgres)
            _ = try await giveUp(1, by: StreamGroup(stream: Self.group.stream, name: "another"), in: postgres)
            try await consuming(postgres) {
                try await waitForDepth(3)
                try await redrive(ids[0], in: postgres)
                try await waitForDepth(2)
                try await age(ids[1], by: 86_400, in: postgres)
                try await eventually("the oldest is shown") { value("bus_dead_letter_oldest_seconds").map { $0 >= 86_400 } == true }
                try await age(ids[1], by: 31 * 86_400, in: postgres)
                try await waitForDepth(1)
                #expect(try #require(value("bus_dead_letter_oldest_seconds")) < 86_400)
                #expect(value("bus_dead_letters_expired_total") == 1)
                try await redrive(ids[2], in: postgres)
                try await waitForDepth(0)
                try await eventually("none is old") { value("bus_dead_letter_oldest_seconds") == 0 }
            }
        }
    }
}
