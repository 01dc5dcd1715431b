import AsyncPrimitives
import TestSupport
import Testing

@testable import EventBus

/// The handling of suspects, tested on every transport.
@Suite("A suspect message", .timeLimit(.minutes(3)))
struct SuspectConformanceTests {
    /// Makes a transport with messages from 1 on; the first `suspects` of them were held by two consumers that died, the second named
    /// `heir`.
    private func suspects(_ kind: TransportKind, _ suspects: Int, of count: Int) async throws -> (any TestTransport, [EntryID]) {
        let transport = try await kind.transport()
        try await transport.createGroup("group", on: testStream)
        try await transport.append(1...count)
        let reader = try await transport.openReader(consumer("dead", "group"))
        let ids = try await reader.read(count: suspects, wait: .seconds(60), acknowledging: []).entries.map(\.id)
        await reader.close()
        let claimed = try await transport.claim(
            ClaimRequest(minIdle: .zero, count: suspects), for: consumer("heir", "group"))
        #expect(claimed.entries.map(\.deliveryCount) == Array(repeating: 2, count: suspects))
        return (transport, ids)
    }

    private func claim(
        _ transport: any EventTransport, count: Int = 9, takesSuspect: Bool = true, by name: String = "next"
    ) async throws -> ClaimedEntries {
        try await transport.claim(
            ClaimRequest(minIdle: .zero, count: count, takesSuspect: takesSuspect), for: consumer(name, "group"))
    }

    @Test(arguments: TransportKind.allCases)
    func `is claimed one at a time, unlike other entries`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 2, of: 4)
        let reader = try await transport.openReader(consumer("slow", "group"))
        let innocent = try await reader.read(count: 2, wait: .seconds(60), acknowledging: []).entries.map(\.id)
        await reader.close()
        #expect(try await claim(transport, takesSuspect: false).entries.map(\.id) == innocent)
        let suspect = try await claim(transport, count: 1)
        #expect(suspect.entries.map(\.id) == [ids[0]])
        #expect(suspect.entries.map(\.deliveryCount) == [3])
        #expect(ids[0] == suspect.cursor)
    }

    @Test(arguments: TransportKind.allCases)
    func `counts a crash only after it was begun`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 1)
        for name in ["first", "second"] {
            let claimed = try await claim(transport, by: name)
            #expect(claimed.entries.map(\.deliveryCount) == [3])
        }
        #expect(try await transport.begin(ids, by: consumer("first", "group")) == ids)
        #expect(try await transport.begin(ids, by: consumer("second", "group")).isEmpty)
        #expect(try await claim(transport, by: "third").entries.map(\.deliveryCount) == [4])
    }

    @Test(arguments: TransportKind.allCases)
    func `is dead-lettered after the third crash without being handled again`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 3)
        _ = try await claim(transport, by: "third")
        _ = try await transport.begin(ids, by: consumer("third", "group"))
        try await transport.age(ids, of: consumer("third", "group"), to: .seconds(600))
        let processor = RecordingProcessor()
        let deadLetters = RecordingDeadLetters()
        try await withConsumer(transport, processor, configuration: .claimingAged, deadLetters: deadLetters) {
            try await eventually("there is a dead letter") { deadLetters.letters.first }
            await processor.waitFor(2)
            try await transport.waitUntilSettled()
        }
        let letter = try #require(deadLetters.letters.first)
        #expect(letter.reason == .crashes)
        #expect(letter.crashes == 3)
        #expect(processor.numbers.sorted() == [2, 3])
    }

    @Test(arguments: TransportKind.allCases)
    func `is handled while its consumer handles nothing else`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 1)
        let (begun, release) = (AsyncLatch(), AsyncLatch())
        let processor = RecordingProcessor { number, _ in
            guard number == 1 else { return }
            begun.open()
            await release.wait()
        }
        try await transport.age(ids, of: consumer("heir", "group"), to: .seconds(600))
        let deadLetters = RecordingDeadLetters()
        let busy = RunningConsumer(transport, processor, configuration: .claimingAged, deadLetters: deadLetters)
        await begun.wait()
        try await transport.append(2...4)
        // The reader may have been paused before it began to read.
        try await eventually("another is in hand, or not read") {
            busy.consumer.state.heldCount > 1 || busy.consumer.progress.isWaitingForRoom
        }
        // A worker that were allowed to begin would do so at once.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(processor.numbers == [1])
        release.open()
        await processor.waitFor(4)
        try await transport.waitUntilSettled()
        busy.consumer.stop()
        _ = await busy.task.result
        #expect(deadLetters.letters.isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `is settled before another may begin`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 1)
        try await transport.age(ids, of: consumer("heir", "group"), to: .seconds(600))
        var configuration = EventConsumerConfiguration.claimingAged
        configuration.acknowledgeLinger = .seconds(2)
        let busy = RunningConsumer(transport, RecordingProcessor(), configuration: configuration)
        try await transport.waitUntilSettled()
        #expect(busy.consumer.state.carryingReads == 0, "a read is possible only after the lane, and may be too late")
        await busy.drain()
    }

    @Test(arguments: TransportKind.allCases)
    func `does not hold up another consumer of the process`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 1)
        let (lane, begun, release) = (IsolationLane(), AsyncLatch(), AsyncLatch())
        let processor = RecordingProcessor()
        try await transport.age(ids, of: consumer("heir", "group"), to: .seconds(600))
        let other = RunningConsumer(transport, processor, group: "other", isolation: lane)
        let suspect = RunningConsumer(
            transport,
            RecordingProcessor { _, _ in
                begun.open()
                await release.wait()
            }, configuration: .claimingAged, isolation: lane)
        await begun.wait()
        try await transport.append([2])
        await processor.wait { $0.contains(2) }
        release.open()
        await suspect.drain()
        await other.drain()
    }

    @Test(arguments: TransportKind.allCases)
    func `is released by a consumer that is stopped before it begins it`(_ kind: TransportKind) async throws {
        let (transport, ids) = try await suspects(kind, 1, of: 1)
        let (begun, release) = (AsyncLatch(), AsyncLatch())
        let processor = RecordingProcessor { number, _ in
            begun.open()
            await release.wait()
        }
        let busy = RunningConsumer(transport, processor, configuration: .claimingAged)
        // The suspect waits while another message is in work.
        try await transport.append([2])
        await begun.wait()
        try await transport.age(ids, of: consumer("heir", "group"), to: .seconds(600))
        try await eventually("the suspect waits") { busy.consumer.state.holdsSuspect }
        busy.consumer.stop()
        release.open()
        _ = await busy.task.result
        #expect(processor.numbers == [2])
        let next = try await claim(transport)
        #expect(next.entries.map(\.id) == ids)
        #expect(next.entries.map(\.deliveryCount) == [3])
    }
}
