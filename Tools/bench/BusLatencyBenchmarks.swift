import EventBus
import Foundation
import Logging
import PostgresClient
import RedisClient
import TestSupport
import WireFormat

/// Measures the time from the publication of a single message to its handler on an idle bus, against the same in C on hiredis.
///
/// Rounds alternate, because the machine is shared: other load on the cores slows both.
func benchmarkBusLatency(messages: Int = 250, rounds: Int = 6) async throws -> [Figure] {
    let server = try await RedisServer.start(persistence: .appendOnly)
    let reference = try await ReferenceProgram("bus_latency_reference", libraries: ["hiredis"])
    defer { reference.remove() }
    var (ours, theirs): ([[Double]], [[Double]]) = ([], [])
    for round in 1...rounds {
        theirs.append(
            try await reference.runForNumbers(server.socket, "reference:\(round)", "\(messages)").dropFirst(warmUps).sorted())
        ours.append(try await busLatencies(server, prefix: "ours:\(round):", messages: messages).sorted())
    }
    await server.stop()
    return [("p50", 50, 0.5), ("p99", 99, 2)].map { name, percentile, limit in
        func percentiles(_ rounds: [[Double]]) -> [Double] { rounds.map { $0[$0.count * percentile / 100] } }
        return Figure(
            "bus_idle_latency_\(name)", percentiles(ours), unit: "ms", reference: "XADD and XREADGROUP in C on hiredis",
            percentiles(theirs), bar: 4, maxValue: limit, moreIsBetter: false)
    }
}

/// The number of messages at the start of a round that are not measured: they open connections and load the server's scripts.
private let warmUps = 20

/// Returns the milliseconds from before the append of a message to its handler, for messages that are sent one after the other.
private func busLatencies(_ server: RedisServer, prefix: String, messages: Int) async throws -> [Double] {
    let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let client = RedisClient(configuration: try RedisConfiguration(url: server.url), logger: logger)
    let transport = RedisEventTransport(client: client, keyPrefix: prefix)
    let postgres = try PostgresClient(configuration: PostgresConfiguration(url: "postgresql:///unused"), logger: logger)
    let (handled, report) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
    let consumer = try EventConsumer(
        group: "bench", transport: transport, postgres: postgres, logger: logger,
        handlers: [.withoutInbox(EkycRequested.self) { _ in report.yield(.now) }])
    let consuming = Task { try await consumer.run() }
    var times = handled.makeAsyncIterator()
    var milliseconds: [Double] = []
    for number in 0..<messages {
        let event = EkycRequested(sessionID: UUIDv7.generate(), event: .signIn, lane: .new)
        let entry = OutgoingEntry(stream: event.stream, envelope: try Envelope(event).encoded())
        let start = ContinuousClock.now
        _ = try await transport.append([entry])
        guard let end = await times.next() else { break }
        if number >= warmUps { milliseconds.append((end - start) / .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(4))
    }
    consuming.cancel()
    try await consuming.value
    await client.shutdown()
    await postgres.shutdown()
    return milliseconds
}
