import EventBus
import Foundation
import Logging
import PostgresClient
import RedisClient
import TestSupport
import WireFormat

/// An isolated installation for one test: a key prefix on the shared Redis, and a database.
struct TestBus {
    let transport: RedisEventTransport
    let database: TestDatabase
    let redis: RedisClient
    private let server: RedisServer

    /// The command-line arguments for Redis.
    var redisArguments: [String] { ["--redis-url", server.url, "--redis-key-prefix", transport.keyPrefix] }
    /// The command-line arguments for both servers.
    var arguments: [String] { redisArguments + ["--database-url", database.url] }
    /// The environment variables for both servers.
    var environment: [String: String] {
        ["REDIS_URL": server.url, "REDIS_KEY_PREFIX": transport.keyPrefix, "DATABASE_URL": database.url]
    }

    static func with(_ body: (TestBus) async throws -> Void) async throws {
        let server = try await RedisServer.shared()
        // Long timeouts, so that only a hang fails the test.
        var configuration = try RedisConfiguration(url: server.url)
        (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
        let redis = RedisClient(
            configuration: configuration,
            logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
        let transport = RedisEventTransport(
            client: redis, keyPrefix: RedisServer.uniquePrefix(), appendTimeout: .seconds(60))
        do {
            try await withMigratedDatabase { database in
                try await body(TestBus(transport: transport, database: database, redis: redis, server: server))
            }
        } catch {
            await redis.shutdown()
            throw error
        }
        await redis.shutdown()
    }

    /// The group that reads a stream.
    func group(_ stream: String) -> StreamGroup {
        let names = [
            "ekyc.requested": "face-matching-worker", "notification.requested": "token-registry", "photo.uploaded": "image-worker",
        ]
        return StreamGroup(stream: stream, name: names[stream] ?? "unknown")
    }

    /// Appends events to their streams.
    @discardableResult
    func append(_ events: [any Event], requestID: String? = nil) async throws -> [UUID] {
        var ids: [UUID] = []
        for event in events {
            let envelope = try Self.encode(event, requestID: requestID)
            _ = try await transport.append([OutgoingEntry(stream: event.stream, envelope: envelope)])[0].get()
            ids.append(envelope.id)
        }
        return ids
    }

    private static func encode(_ event: some Event, requestID: String?) throws -> EncodedEnvelope {
        try Envelope(event, requestID: requestID).encoded()
    }

    /// Delivers all entries of a stream to a consumer of its group.
    @discardableResult
    func deliver(_ stream: String, to name: String = "c1") async throws -> [EntryID] {
        try await transport.createGroup(group(stream).name, on: stream)
        let consumer = GroupConsumer(group: group(stream), name: name)
        let reader = try await transport.openReader(consumer)
        let ids = try await reader.read(count: 1000, wait: .milliseconds(1), acknowledging: []).entries.map(\.id)
        await reader.close()
        return ids
    }

    /// Makes dead letters of events of one stream, and returns their ids.
    @discardableResult
    func deadLetter(
        _ events: [any Event], reason: DeadLetterReason = .failures, error: String = "the server said no",
        requestID: String? = nil
    ) async throws -> [EntryID] {
        let stream = events[0].stream
        try await append(events, requestID: requestID)
        let requests = try await deliver(stream).map {
            DeadLetterRequest(
                id: $0, reason: reason, error: error, failures: reason == .failures ? 16 : 0, crashes: reason == .crashes ? 3 : 0)
        }
        _ = try await transport.deadLetter(requests, by: GroupConsumer(group: group(stream), name: "c1"))
        return try await deadLetters(stream).suffix(events.count).map(\.id)
    }

    func deadLetters(_ stream: String) async throws -> [DeadLetter] {
        try await transport.deadLetters(of: group(stream), after: .zero, count: 1000)
    }
}

/// A sign-in event for a new session.
func ekyc() -> EkycRequested { EkycRequested(sessionID: UUID(), event: .signIn, lane: .new) }
