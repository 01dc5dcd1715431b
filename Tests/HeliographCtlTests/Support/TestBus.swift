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
    let postgres: PostgresClient
    let redis: RedisClient
    private let server: RedisServer

    /// The command-line arguments for the database.
    var databaseArguments: [String] { ["--database-url", database.url] }
    /// The command-line arguments for both servers.
    var arguments: [String] { ["--redis-url", server.url, "--redis-key-prefix", transport.keyPrefix] + databaseArguments }
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
                try await withClient(of: database) { postgres in
                    try await body(TestBus(transport: transport, database: database, postgres: postgres, redis: redis, server: server))
                }
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
    ) async throws -> [UUID] {
        let letters = try events.enumerated().map { number, event in
            let envelope = try Self.encode(event, requestID: requestID)
            return NewDeadLetter(
                entryID: EntryID(milliseconds: 17, sequence: UInt64(number)), messageID: envelope.id, fields: envelope.streamFields,
                reason: reason, error: error, failures: reason == .failures ? 16 : 0, crashes: reason == .crashes ? 3 : 0)
        }
        try await deadLetter(letters, of: events[0].stream)
        return letters.map(\.id)
    }

    /// Stores dead letters, one after the other, so that each is older than the next.
    func deadLetter(_ letters: [NewDeadLetter], of stream: String) async throws {
        for letter in letters {
            _ = try await postgres.withTransaction { try await DeadLetterRepository($0).add([letter], of: group(stream), by: "c1") }
        }
    }

    func deadLetters(_ stream: String) async throws -> [DeadLetter] {
        try await DeadLetterRepository(postgres).page(of: group(stream), limit: 1000)
    }

    /// Returns the messages that wait for the relay as stream, group and state.
    func outbox() async throws -> [String] {
        try await database.psql("SELECT stream, array_to_string(consumer_groups, '+'), state FROM outbox ORDER BY id")
            .split(separator: "\n").map(String.init)
    }
}

/// A sign-in event for a new session.
func ekyc() -> EkycRequested { EkycRequested(sessionID: UUID(), event: .signIn, lane: .new) }
