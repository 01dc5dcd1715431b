import EventBus
import Foundation
import Logging
import PostgresClient
import RedisClient
import Synchronization
import TestSupport
import WireFormat

/// Measures messages per second through the whole bus — envelope, stream, typed event, handler, acknowledgement — with an
/// append-only file that is synced once per second, against the same pattern written in C on hiredis.
///
/// Bodies are encoded before the clock starts, as they are when the relay takes them from the outbox.
func benchmarkBus() async throws -> [Figure] {
    try await throughputFigures() + peerFigures() + benchmarkBusLatency()
}

private func throughputFigures(messages: Int = 60_000, rounds: Int = 7, batch: Int = 256) async throws -> [Figure] {
    let server = try await RedisServer.start(persistence: .appendOnly)
    let reference = try await ReferenceProgram("bus_reference", libraries: ["hiredis"])
    defer { reference.remove() }
    var ours: [Double] = []
    var theirs: [Double] = []
    for round in 0...rounds {
        let stream = "reference:\(round)"
        let their = try await reference.run(server.socket, stream, "\(messages)", "\(batch)")
        try await server.cli("DEL", stream)
        let our = try await throughput(server, prefix: "ours:\(round):", messages: messages, batch: batch)
        try await server.cli("DEL", "ours:\(round):{ekyc.requested}")
        // The first round is a warm-up of both.
        if round > 0 {
            theirs.append(their)
            ours.append(our)
        }
    }
    await server.stop()
    // Two processes and a server share the cores; the ratio is 0.61 to 0.64 on two fast cores, and 0.51 to 0.6 on two that are
    // half as fast.
    return [
        Figure(
            "bus_messages_per_second", ours.median, unit: "messages/s",
            reference: "the same pattern in C on hiredis, AOF everysec", referenceValue: theirs.median,
            ratio: zip(ours, theirs).map { $0 / $1 }.median, bar: 0.5)
    ]
}

private final class Count: Sendable {
    let value = Atomic(0)
}

/// Publishes messages in one task, handles them in a consumer, and returns the messages per second until all are acknowledged.
private func throughput(_ server: RedisServer, prefix: String, messages: Int, batch: Int) async throws -> Double {
    let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let client = RedisClient(configuration: try RedisConfiguration(url: server.url), logger: logger)
    let transport = RedisEventTransport(client: client, keyPrefix: prefix)
    // No message is marked as handled, so this client never connects: only the bus is measured.
    let postgres = try PostgresClient(configuration: PostgresConfiguration(url: "postgresql:///unused"), logger: logger)
    var configuration = EventConsumerConfiguration()
    configuration.concurrency = batch
    let count = Count()
    let consumer = try EventConsumer(
        group: "bench", transport: transport, postgres: postgres, configuration: configuration, logger: logger,
        handlers: [.withoutInbox(EkycRequested.self) { _ in count.value.add(1, ordering: .relaxed) }])
    try await transport.createGroup("bench", on: EkycRequested.type.rawValue)

    let entries = try (0..<messages).map { _ in
        let event = EkycRequested(sessionID: UUIDv7.generate(), event: .signIn, lane: .new)
        return (event.stream, try Envelope(event).encoded())
    }
    let start = ContinuousClock.now
    let consuming = Task { try await consumer.run() }
    try await publish(entries, by: batch, through: transport)
    while count.value.load(ordering: .relaxed) < messages { try await Task.sleep(for: .milliseconds(1)) }
    while try await transport.pendingCount(of: StreamGroup(stream: EkycRequested.type.rawValue, name: "bench")) > 0 {}
    let seconds = (ContinuousClock.now - start) / .seconds(1)

    consuming.cancel()
    try await consuming.value
    await client.shutdown()
    await postgres.shutdown()
    return Double(messages) / seconds
}

@concurrent
private func publish(
    _ messages: [(stream: String, envelope: EncodedEnvelope)], by batch: Int, through transport: RedisEventTransport
) async throws {
    var rest = messages[...]
    while !rest.isEmpty {
        let entries = rest.prefix(batch).map { OutgoingEntry(stream: $0.stream, envelope: $0.envelope) }
        for result in try await transport.append(entries) { _ = try result.get() }
        rest = rest.dropFirst(batch)
    }
}

/// Measures the bus against two Python queues, each with one worker process and a task that does nothing, on the same server.
private func peerFigures(messages: Int = 5_000, rounds: Int = 3) async throws -> [Figure] {
    try await CommandLineTool.run([try PackageRoot.file("deploy/local/bench-peers.sh")])
    let libraries = ["PYTHONPATH": try PackageRoot.file(".cache/bench-peers")]
    let peers = [("celery", "Celery, one worker process"), ("taskiq", "taskiq-redis' stream broker, one worker process")]
    var figures: [Figure] = []
    for (name, description) in peers {
        let server = try await RedisServer.start(persistence: .appendOnly)
        var ours: [Double] = []
        var theirs: [Double] = []
        for round in 1...rounds {
            let program = try PackageRoot.file("Tools/bench/Reference/\(name)_peer.py")
            let output = try await CommandLineTool.run(
                ["python3", program, server.socket, "\(messages)"], environment: libraries)
            guard let their = Double(output.split(separator: "\n").last ?? "") else {
                throw DeadlineExceeded(description: "\(name) printed no number: \(output)")
            }
            theirs.append(their)
            ours.append(try await throughput(server, prefix: "ours:\(round):", messages: messages * 10, batch: 256))
        }
        await server.stop()
        figures.append(
            Figure(
                "bus_against_\(name)", ours.median, unit: "messages/s", reference: description,
                referenceValue: theirs.median, bar: nil))
    }
    return figures
}
