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
    var ours: [BusRound] = []
    var theirs: [BusRound] = []
    for round in 0...rounds {
        let stream = "reference:\(round)"
        let before = try await ProcessCost.of(server)
        let numbers = try await reference.runForNumbers(server.socket, stream, "\(messages)", "\(batch)")
        guard numbers.count == 4 else { throw DeadlineExceeded(description: "the reference printed \(numbers.count) numbers") }
        let cost = ProcessCost(user: numbers[1], system: numbers[2], calls: numbers[3])
        let their = BusRound(rate: numbers[0], client: cost, server: try await ProcessCost.of(server) - before)
        try await server.cli("DEL", stream)
        let our = try await runBus(server, prefix: "ours:\(round):", messages: messages, batch: batch)
        try await server.cli("DEL", "ours:\(round):{ekyc.requested}")
        // The first round is a warm-up of both.
        if round > 0 {
            theirs.append(their)
            ours.append(our)
        }
    }
    await server.stop()
    return figures(ours, theirs, messages: messages)
}

/// One round of one side.
private struct BusRound {
    /// Messages per second.
    let rate: Double
    /// The cost of the process that publishes and consumes.
    let client: ProcessCost
    /// The cost of the server.
    let server: ProcessCost
}

private func figures(_ ours: [BusRound], _ theirs: [BusRound], messages: Int) -> [Figure] {
    let reference = "the same pattern in C on hiredis, AOF everysec"
    func costs(_ name: String, _ process: KeyPath<BusRound, ProcessCost>, bar: Double?) -> Figure {
        func perMessage(_ rounds: [BusRound], _ part: KeyPath<ProcessCost, Double>) -> [Double] {
            rounds.map { $0[keyPath: process][keyPath: part] / Double(messages) }
        }
        func microseconds(_ rounds: [BusRound], _ part: KeyPath<ProcessCost, Double>) -> [Double] {
            perMessage(rounds, part).map { $0 * 1e6 }
        }
        var figure = Figure(
            name, microseconds(ours, \.total), unit: "µs of processor time a message", reference: reference,
            microseconds(theirs, \.total), bar: bar, moreIsBetter: false)
        figure.parts = [
            "user": microseconds(ours, \.user).median, "system": microseconds(ours, \.system).median,
            "reads_and_writes": perMessage(ours, \.calls).median, "reference_user": microseconds(theirs, \.user).median,
            "reference_system": microseconds(theirs, \.system).median, "reference_reads_and_writes": perMessage(theirs, \.calls).median,
        ]
        return figure
    }
    return [
        Figure(
            "bus_messages_per_second", ours.map(\.rate), unit: "messages/s", reference: reference, theirs.map(\.rate), bar: 0.6),
        costs("bus_processor_time", \.client, bar: 2),
        costs("bus_processor_time_of_server", \.server, bar: nil),
    ]
}

private final class Count: Sendable {
    let value = Atomic(0)
}

/// Publishes messages in one task and handles them in a consumer, until all are acknowledged.
private func runBus(_ server: RedisServer, prefix: String, messages: Int, batch: Int) async throws -> BusRound {
    let serverBefore = try await ProcessCost.of(server)
    var clientCost = ProcessCost()
    let rate = try await throughput(server.url, prefix: prefix, messages: messages, batch: batch, cost: &clientCost)
    return BusRound(rate: rate, client: clientCost, server: try await ProcessCost.of(server) - serverBefore)
}

/// Does what ``runBus`` does on any server, and returns the messages per second; `cost` is the cost of this process meanwhile.
func throughput(_ url: String, prefix: String, messages: Int, batch: Int, cost: inout ProcessCost) async throws -> Double {
    let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let client = RedisClient(configuration: try RedisConfiguration(url: url), logger: logger)
    let transport = RedisEventTransport(client: client, keyPrefix: prefix)
    // No message is marked as handled, so this client never connects: only the bus is measured.
    let postgres = try PostgresClient(configuration: PostgresConfiguration(url: "postgresql:///unused"), logger: logger)
    var configuration = EventConsumerConfiguration()
    configuration.concurrency = batch
    let count = Count()
    let (handled, last) = AsyncStream.makeStream(of: Void.self)
    let consumer = try EventConsumer(
        group: "bench", transport: transport, postgres: postgres, configuration: configuration, logger: logger,
        handlers: [
            .withoutInbox(EkycRequested.self, streams: [EkycRequested.type.rawValue]) { _ in
                if count.value.add(1, ordering: .relaxed).newValue == messages { last.finish() }
            }
        ])
    try await transport.createGroup("bench", on: EkycRequested.type.rawValue)

    let entries = try (0..<messages).map { _ in
        let event = EkycRequested(sessionID: UUIDv7.generate(), event: .signIn, lane: .new)
        return OutgoingEntry(stream: event.stream, envelope: try Envelope(event).encoded())
    }
    let before = ProcessCost.ofThisProcess()
    let start = ContinuousClock.now
    let consuming = Task { try await consumer.run() }
    try await publish(entries, by: batch, through: transport)
    for await _ in handled {}
    while try await transport.pendingCount(of: StreamGroup(stream: EkycRequested.type.rawValue, name: "bench")) > 0 {}
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    cost = ProcessCost.ofThisProcess() - before

    consuming.cancel()
    try await consuming.value
    await client.shutdown()
    await postgres.shutdown()
    return Double(messages) / seconds
}

@concurrent
private func publish(
    _ entries: [OutgoingEntry], by batch: Int, through transport: RedisEventTransport
) async throws {
    var rest = entries[...]
    while !rest.isEmpty {
        for result in try await transport.append(Array(rest.prefix(batch))) { _ = try result.get() }
        rest = rest.dropFirst(batch)
    }
}

/// Measures the bus against two Python queues, each with one worker process and an empty task, on the same server.
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
            ours.append(try await runBus(server, prefix: "ours:\(round):", messages: messages * 10, batch: 256).rate)
        }
        await server.stop()
        figures.append(
            Figure("bus_against_\(name)", ours, unit: "messages/s", reference: description, theirs, bar: nil))
    }
    return figures
}
