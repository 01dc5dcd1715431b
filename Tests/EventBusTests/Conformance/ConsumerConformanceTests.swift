import AsyncPrimitives
import Synchronization
import TestSupport
import Testing

@testable import EventBus

/// The guarantees of a consumer, tested on every transport.
@Suite("A consumer", .timeLimit(.minutes(3)))
struct ConsumerConformanceTests {
    private func expectNothingPending(_ transport: any EventTransport, group: String = "group") async throws {
        try await eventually("everything is acknowledged") {
            try await transport.pendingCount(of: StreamGroup(stream: testStream, name: group)) == 0
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `handles entries from before and after its start`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append(1...10)
        let processor = RecordingProcessor()
        try await withConsumer(transport, processor) {
            await processor.waitFor(10)
            try await transport.append(11...20)
            await processor.waitFor(20)
            try await expectNothingPending(transport)
        }
        #expect(processor.numbers.sorted() == Array(1...20))
    }

    @Test(arguments: TransportKind.allCases)
    func `handles batches in the order of the stream`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let processor = RecordingProcessor(unit: 7)
        try await withConsumer(transport, processor) {
            for first in stride(from: 1, through: 500, by: 50) { try await transport.append(first..<(first + 50)) }
            await processor.waitFor(500)
        }
        #expect(processor.numbers == Array(1...500))
    }

    @Test(arguments: TransportKind.allCases)
    func `acknowledges nothing before the handler has ended`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let gate = AsyncLatch()
        let processor = RecordingProcessor { _, _ in await gate.wait() }
        try await withConsumer(transport, processor, configuration: .withoutClaims) {
            try await transport.append(1...4)
            await processor.waitFor(4)
            #expect(try await transport.pendingCount(of: group("group")) == 4)
            gate.open()
            try await expectNothingPending(transport)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `runs no more handlers at a time than its concurrency`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.concurrency = 3
        let gate = AsyncLatch()
        let processor = RecordingProcessor { _, _ in await gate.wait() }
        try await withConsumer(transport, processor, configuration: configuration) {
            try await transport.append(1...20)
            await processor.waitFor(3)
            // The consumer holds only as many entries as it has workers: other consumers can read the rest.
            #expect(try await transport.pendingCount(of: group("group")) == 3)
            gate.open()
            await processor.waitFor(20)
        }
        #expect(processor.mostRunning == 3)
    }

    @Test(arguments: TransportKind.allCases)
    func `shares the work with the other consumers of its group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let gate = AsyncLatch()
        let processors = (0..<3).map { _ in RecordingProcessor { _, _ in await gate.wait() } }
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.concurrency = 10
        let consumers = processors.enumerated().map {
            RunningConsumer(transport, $0.element, name: "consumer \($0.offset)", configuration: configuration)
        }
        try await transport.append(1...30)
        for processor in processors { await processor.waitFor(10) }
        gate.open()
        try await expectNothingPending(transport)
        for consumer in consumers { await consumer.drain() }
        #expect(processors.flatMap(\.numbers).sorted() == Array(1...30))
    }

    @Test(arguments: TransportKind.allCases)
    func `of another group gets every entry, but not the retries of the first group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let one = RecordingProcessor()
        // Not by the number of deliveries: one whose answer was lost is the first that the handler sees.
        let failed = Mutex<Set<Int>>([])
        let two = RecordingProcessor { number, _ in
            if failed.withLock({ $0.insert(number).inserted }) { throw TestFailure() }
        }
        try await withConsumer(transport, one, group: "one") {
            try await withConsumer(transport, two, group: "two") {
                try await transport.append(1...20)
                await two.wait { numbers in (1...20).allSatisfy { number in numbers.count { $0 == number } >= 2 } }
                await one.waitFor(20)
                try await expectNothingPending(transport, group: "two")
                try await expectNothingPending(transport, group: "one")
            }
        }
        #expect(one.numbers.sorted() == Array(1...20))
    }

    @Test(arguments: TransportKind.allCases)
    func `takes over the entries of a dead consumer`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.createGroup("group", on: testStream)
        try await transport.append(1...30)
        let dead = try await transport.openReader(consumer("dead", "group"))
        let held = try await dead.read(count: 25, wait: .seconds(60), acknowledging: []).entries.map(\.id)
        #expect(held.count == 25)
        await dead.close()
        try await transport.age(held, of: consumer("dead", "group"), to: .seconds(600))
        let processor = RecordingProcessor()
        try await withConsumer(transport, processor, configuration: .claimingAged) {
            await processor.wait { Set($0) == Set(1...30) }
            try await expectNothingPending(transport)
        }
        #expect(Set(processor.seen.filter { $0.deliveryCount > 1 }.map(\.number)).isSuperset(of: 1...25))
    }

    @Test(arguments: TransportKind.allCases)
    func `renews the entry of a slow handler, so that no other consumer claims it`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let gate = AsyncLatch()
        let processor = RecordingProcessor { _, _ in await gate.wait() }
        let request = ClaimRequest(minIdle: .seconds(300), count: 9)
        try await withConsumer(transport, processor, name: "slow", configuration: .withoutClaims) {
            let ids = try await transport.append([1])
            await processor.waitFor(1)
            for _ in 0..<3 {
                try await transport.age(ids, of: consumer("slow", "group"), to: .seconds(300))
                try await eventually("it is renewed") {
                    try await transport.idleTime(of: ids[0], in: group("group")).map { $0 < .seconds(300) } ?? false
                }
                #expect(try await transport.claim(request, for: consumer("other", "group")).entries.isEmpty)
            }
            gate.open()
            try await expectNothingPending(transport)
        }
        #expect(processor.seen == [.init(number: 1, deliveryCount: 1)])
    }

    @Test(arguments: TransportKind.allCases)
    func `finishes and acknowledges begun work when it is drained, and leaves its group`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let gate = AsyncLatch()
        let processor = RecordingProcessor { _, _ in await gate.wait() }
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.concurrency = 2
        let running = RunningConsumer(transport, processor, configuration: configuration)
        try await transport.append(1...6)
        await processor.waitFor(2)
        running.consumer.stop()
        gate.open()
        _ = await running.task.result
        #expect(processor.numbers.sorted() == [1, 2])
        #expect(try await transport.pendingCount(of: group("group")) == 0)
        // The entries that it had not begun are handled by the next consumer.
        let next = RecordingProcessor()
        try await withConsumer(transport, next, name: "next") { await next.waitFor(4) }
        #expect(next.numbers.sorted() == [3, 4, 5, 6])
    }

    @Test(arguments: TransportKind.allCases)
    func `drains at once when it is idle`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.readWait = .seconds(120)
        configuration.claimInterval = .seconds(120)
        let processor = RecordingProcessor()
        let running = RunningConsumer(transport, processor, configuration: configuration)
        try await transport.append([1])
        await processor.waitFor(1)
        let start = ContinuousClock.now
        await running.drain()
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(try await transport.pendingCount(of: group("group")) == 0)
    }

    @Test(arguments: TransportKind.allCases)
    func `releases work that does not end within the drain time`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let clock = ManualClock()
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.acknowledgeLinger = .zero
        let processor = RecordingProcessor { number, _ in
            if number == 1 { try await Task.sleep(for: .seconds(600)) }
        }
        let running = RunningConsumer(transport, processor, configuration: configuration, clock: clock)
        try await transport.append(1...2)
        await processor.waitFor(2)
        running.consumer.stop()
        await clock.waitForSleep(of: configuration.drainTimeout)
        clock.advance(by: configuration.drainTimeout)
        _ = await running.task.result
        #expect(try await transport.pendingCount(of: group("group")) == 1)
        // It was released: the next consumer claims it at once, and the released delivery does not count.
        let heir = RecordingProcessor()
        try await withConsumer(transport, heir, name: "heir") { await heir.waitFor(1) }
        #expect(heir.seen == [.init(number: 1, deliveryCount: 1)])
    }

    @Test(arguments: TransportKind.allCases)
    func `acknowledges committed work even when it is cancelled`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let processor = RecordingProcessor()
        var configuration = EventConsumerConfiguration.withoutClaims
        // With these times, acknowledgements are sent only at the end of the consumer.
        configuration.acknowledgeLinger = .seconds(600)
        configuration.readWait = .seconds(30)
        let running = RunningConsumer(transport, processor, configuration: configuration)
        try await transport.append(1...5)
        await processor.waitFor(5)
        running.task.cancel()
        _ = await running.task.result
        #expect(try await transport.pendingCount(of: group("group")) == 0)
    }
}
