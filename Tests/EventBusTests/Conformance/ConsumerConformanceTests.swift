import AsyncPrimitives
import TestSupport
import Testing

@testable import EventBus

/// The guarantees of a consumer, on every transport.
@Suite("A consumer", .timeLimit(.minutes(3)))
struct ConsumerConformanceTests {
    private func expectNothingPending(_ transport: any EventTransport, group: String = "group") async throws {
        try await eventually("everything is acknowledged") {
            try await transport.pendingCount(of: StreamGroup(stream: testStream, name: group)) == 0
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `handles what was there before it, and what comes`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            try await transport.append(1...10)
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await processor.waitFor(10)
                try await transport.append(11...20)
                try await processor.waitFor(20)
                try await expectNothingPending(transport)
            }
            #expect(processor.numbers.sorted() == Array(1...20))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps the order of the stream when it takes batches`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let processor = RecordingProcessor(unit: 7)
            try await withConsumer(transport, processor) {
                for first in stride(from: 1, through: 500, by: 50) { try await transport.append(first..<(first + 50)) }
                try await processor.waitFor(500)
            }
            #expect(processor.numbers == Array(1...500))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `acknowledges nothing before the handler is through`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let gate = AsyncLatch()
            let processor = RecordingProcessor { _, _ in await gate.wait() }
            try await withConsumer(transport, processor, configuration: .withoutClaims) {
                try await transport.append(1...4)
                try await processor.waitFor(4)
                #expect(try await transport.pendingCount(of: group("group")) == 4)
                gate.open()
                try await expectNothingPending(transport)
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `runs no more handlers at a time than it may`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            var configuration = EventConsumerConfiguration.withoutClaims
            configuration.concurrency = 3
            let gate = AsyncLatch()
            let processor = RecordingProcessor { _, _ in await gate.wait() }
            try await withConsumer(transport, processor, configuration: configuration) {
                try await transport.append(1...20)
                try await processor.waitFor(3)
                // No more is taken from the stream than there are workers: others can have the rest.
                #expect(try await transport.pendingCount(of: group("group")) == 3)
                gate.open()
                try await processor.waitFor(20)
            }
            #expect(processor.mostRunning == 3)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `shares the work with the others of its group`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let gate = AsyncLatch()
            let processors = (0..<3).map { _ in RecordingProcessor { _, _ in await gate.wait() } }
            var configuration = EventConsumerConfiguration.withoutClaims
            configuration.concurrency = 10
            let consumers = processors.enumerated().map {
                RunningConsumer(transport, $0.element, name: "consumer \($0.offset)", configuration: configuration)
            }
            try await transport.append(1...30)
            try await eventually("all are at work") { processors.allSatisfy { $0.seen.count == 10 } }
            gate.open()
            try await expectNothingPending(transport)
            for consumer in consumers { await consumer.drain() }
            #expect(processors.flatMap(\.numbers).sorted() == Array(1...30))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `of another group gets everything too, and nothing of what the first tries again`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let one = RecordingProcessor()
            let two = RecordingProcessor { _, deliveries in
                if deliveries == 1 { throw TestFailure() }
            }
            try await withConsumer(transport, one, group: "one") {
                try await withConsumer(transport, two, group: "two") {
                    try await transport.append(1...20)
                    try await two.waitFor(40)
                    try await one.waitFor(20)
                    try await expectNothingPending(transport, group: "two")
                    try await expectNothingPending(transport, group: "one")
                }
            }
            #expect(one.numbers.sorted() == Array(1...20))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `takes over what a dead one left`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            try await transport.createGroup("group", on: testStream)
            try await transport.append(1...30)
            let dead = try await transport.openReader(consumer("dead", "group"))
            #expect(try await dead.read(count: 25, wait: .seconds(60), acknowledging: []).entries.count == 25)
            await dead.close()
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await eventually("all are seen") { Set(processor.numbers) == Set(1...30) }
                try await expectNothingPending(transport)
            }
            #expect(Set(processor.seen.filter { $0.deliveryCount > 1 }.map(\.number)).isSuperset(of: 1...25))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `lets a slow handler finish alone, however long it takes`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let processor = RecordingProcessor { number, _ in
                // Longer than the idle time after which another consumer would claim the message.
                if number == 1 { try await Task.sleep(for: .seconds(12)) }
            }
            let other = RecordingProcessor()
            var configuration = EventConsumerConfiguration.quick
            configuration.claimMinIdle = .seconds(8)
            try await withConsumer(transport, processor, name: "slow", configuration: configuration) {
                try await transport.append([1])
                try await processor.waitFor(1)
                try await withConsumer(transport, other, name: "other", configuration: configuration) {
                    try await expectNothingPending(transport)
                }
            }
            #expect(processor.seen == [.init(number: 1, deliveryCount: 1)])
            #expect(other.seen.isEmpty)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `finishes what it has begun when it is drained, acknowledges it and leaves`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let gate = AsyncLatch()
            let processor = RecordingProcessor { _, _ in await gate.wait() }
            var configuration = EventConsumerConfiguration.withoutClaims
            configuration.concurrency = 2
            let running = RunningConsumer(transport, processor, configuration: configuration)
            try await transport.append(1...6)
            try await processor.waitFor(2)
            running.consumer.stop()
            gate.open()
            _ = await running.task.result
            #expect(processor.numbers.sorted() == [1, 2])
            #expect(try await transport.pendingCount(of: group("group")) == 0)
            // It has left: there is no consumer of that name to remove.
            let next = RecordingProcessor()
            try await withConsumer(transport, next, name: "next") { try await next.waitFor(4) }
            #expect(next.numbers.sorted() == [3, 4, 5, 6])
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `drains at once when it is idle`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            var configuration = EventConsumerConfiguration.withoutClaims
            configuration.readWait = .seconds(120)
            configuration.claimInterval = .seconds(120)
            let processor = RecordingProcessor()
            let running = RunningConsumer(transport, processor, configuration: configuration)
            try await transport.append([1])
            try await processor.waitFor(1)
            let start = ContinuousClock.now
            await running.drain()
            #expect(ContinuousClock.now - start < .seconds(60))
            #expect(try await transport.pendingCount(of: group("group")) == 0)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `leaves to others what does not end within the drain time`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            var configuration = EventConsumerConfiguration.withoutClaims
            configuration.drainTimeout = .seconds(4)
            let processor = RecordingProcessor { number, _ in
                if number == 1 { try await Task.sleep(for: .seconds(60)) }
            }
            let running = RunningConsumer(transport, processor, configuration: configuration)
            try await transport.append(1...2)
            try await processor.waitFor(2)
            await running.drain()
            #expect(try await transport.pendingCount(of: group("group")) == 1)
            // It was handed back: the next one has it at once, and the delivery did not count.
            let heir = RecordingProcessor()
            try await withConsumer(transport, heir, name: "heir") { try await heir.waitFor(1) }
            #expect(heir.seen == [.init(number: 1, deliveryCount: 1)])
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `acknowledges what is committed even when it is cancelled`(_ kind: TransportKind) async throws {
        try await kind.withTransport { transport in
            let processor = RecordingProcessor()
            var configuration = EventConsumerConfiguration.withoutClaims
            // Only the end can acknowledge.
            configuration.acknowledgeLinger = .seconds(600)
            configuration.readWait = .seconds(30)
            let running = RunningConsumer(transport, processor, configuration: configuration)
            try await transport.append(1...5)
            try await processor.waitFor(5)
            running.task.cancel()
            _ = await running.task.result
            #expect(try await transport.pendingCount(of: group("group")) == 0)
        }
    }
}
