import AsyncPrimitives
import Synchronization
import TestSupport
import Testing

@testable import EventBus

/// The handling of failing messages, tested on every transport.
@Suite("A consumer of failing messages", .timeLimit(.minutes(3)))
struct FailureConformanceTests {
    @Test(arguments: TransportKind.allCases)
    func `retries a failed message while others are handled`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        try await transport.append(1...3)
        let processor = RecordingProcessor { number, deliveries in
            if number == 2, deliveries < 5 { throw TestFailure() }
        }
        try await withConsumer(transport, processor) {
            await processor.waitFor(7)
            try await transport.waitUntilSettled()
        }
        #expect(processor.seen.filter { $0.number == 2 }.map(\.deliveryCount) == [1, 2, 3, 4, 5])
        #expect(processor.numbers.filter { $0 != 2 }.sorted() == [1, 3])
    }

    @Test(arguments: TransportKind.allCases)
    func `dead-letters a message after the maximum number of failures`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.quick
        configuration.retryPolicy.maxFailures = 3
        let processor = RecordingProcessor { number, _ in
            if number == 1 { throw TestFailure() }
        }
        let deadLetters = RecordingDeadLetters()
        try await withConsumer(transport, processor, configuration: configuration, deadLetters: deadLetters) {
            try await transport.append(1...2)
            try await eventually("there is a dead letter") { !deadLetters.letters.isEmpty }
            try await transport.waitUntilSettled()
        }
        let letter = try #require(deadLetters.letters.first)
        #expect(letter.reason == .failures)
        #expect(letter.failures == 3)
        #expect(letter.error.contains("TestFailure"))
        #expect(deadLetters.givers == ["consumer"])
        #expect(try number(of: letter.fields) == 1)
        #expect(processor.numbers.sorted() == [1, 1, 1, 2])
    }

    @Test(arguments: TransportKind.allCases)
    func `delivers a deferred message again, as often as its handler defers it`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.quick
        configuration.retryPolicy.maxFailures = 1
        let postponements = Mutex(0)
        let processor = RecordingProcessor { number, _ in
            let isPostponed = postponements.withLock { count in
                guard number == 1, count < 4 else { return false }
                count += 1
                return true
            }
            if isPostponed { throw HandlerDeferral(delay: .milliseconds(20), reason: "the other side is busy") }
        }
        let deadLetters = RecordingDeadLetters()
        try await withConsumer(transport, processor, configuration: configuration, deadLetters: deadLetters) {
            try await transport.append(1...2)
            await processor.waitFor(6)
            try await transport.waitUntilSettled()
        }
        #expect(processor.numbers.sorted() == [1, 1, 1, 1, 1, 2])
        #expect(deadLetters.letters.isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `dead-letters an unreadable message at once`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let processor = RecordingProcessor()
        let deadLetters = RecordingDeadLetters()
        try await withConsumer(transport, processor, deadLetters: deadLetters) {
            try await transport.append([1])
            try await transport.appendGarbage()
            try await transport.append([2])
            await processor.waitFor(2)
            try await eventually("there is a dead letter") { !deadLetters.letters.isEmpty }
            try await transport.waitUntilSettled()
        }
        let letter = try #require(deadLetters.letters.first)
        #expect(letter.reason == .unreadable)
        #expect(letter.messageID == nil)
        #expect(letter.fields.map(\.value) == [[0xFF, 0x00]])
        #expect(processor.numbers.sorted() == [1, 2], "which of them ends first is open")
    }

    @Test(arguments: TransportKind.allCases)
    func `keeps an entry pending until its dead letter is stored, and settles others meanwhile`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let outage = EventBusError(.unavailable, "away")
        let deadLetters = RecordingDeadLetters(failures: Array(repeating: outage, count: 5))
        let processor = RecordingProcessor()
        try await withConsumer(transport, processor, deadLetters: deadLetters) {
            try await transport.appendGarbage()
            try await transport.append([1])
            await processor.waitFor(1)
            try await eventually("there is a dead letter") { !deadLetters.letters.isEmpty }
            try await transport.waitUntilSettled()
        }
        #expect(deadLetters.letters.count == 1)
        #expect(processor.numbers == [1])
    }

    /// The transport in memory says of a lost group that its entries are gone, and not that it is missing.
    @Test(arguments: [TransportKind.redis, .redisCluster])
    func `stores a dead letter although the server has lost the group and a retry in it`(_ kind: TransportKind) async throws {
        let deadLetters = RecordingDeadLetters()
        let consumer = StreamConsumer(
            scope: ConsumerScope(group: "group", consumer: "consumer", stream: testStream, logger: .quiet),
            transport: try await kind.transport(), processor: RecordingProcessor(), deadLetters: deadLetters, configuration: .quick)
        let (retried, given) = (EntryID(milliseconds: 1, sequence: 0), EntryID(milliseconds: 1, sequence: 1))
        let letter = NewDeadLetter(entryID: given, messageID: nil, fields: [], reason: .unreadable, error: "", failures: 0, crashes: 0)
        consumer.state.settle(
            unseen: [], [.retry(DelayedRetry(id: retried, failures: 1, delay: .zero)), .deadLetter(letter)])
        _ = await consumer.flush()
        #expect(deadLetters.letters.map(\.entryID) == [given])
    }

    @Test(arguments: TransportKind.allCases)
    func `stores a dead letter whose entry was lost, although the group is there again`(_ kind: TransportKind) async throws {
        let (transport, deadLetters) = (try await kind.transport(), RecordingDeadLetters())
        try await transport.createGroup("group", on: testStream)
        let consumer = StreamConsumer(
            scope: ConsumerScope(group: "group", consumer: "consumer", stream: testStream, logger: .quiet),
            transport: transport, processor: RecordingProcessor(), deadLetters: deadLetters, configuration: .quick)
        let lost = EntryID(milliseconds: 1, sequence: 0)
        let letter = NewDeadLetter(entryID: lost, messageID: nil, fields: [], reason: .unreadable, error: "", failures: 0, crashes: 0)
        consumer.state.settle(unseen: [], [.deadLetter(letter)])
        #expect(await consumer.flush())
        #expect(deadLetters.letters.map(\.entryID) == [lost])
    }

    @Test(arguments: TransportKind.allCases)
    func `leaves to another consumer what that one has claimed`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.withoutClaims
        configuration.retryPolicy.maxFailures = 1
        let (begun, gate) = (AsyncLatch(), AsyncLatch())
        let processor = RecordingProcessor { _, _ in
            begun.open()
            await gate.wait()
            throw TestFailure()
        }
        let deadLetters = RecordingDeadLetters()
        let slow = RunningConsumer(transport, processor, configuration: configuration, deadLetters: deadLetters)
        try await transport.append([1])
        await begun.wait()
        let claimed = try await transport.claim(ClaimRequest(minIdle: .zero, count: 1), for: consumer("heir", "group")).entries
        gate.open()
        await slow.drain()
        #expect(claimed.count == 1)
        #expect(deadLetters.letters.isEmpty)
        #expect(try await transport.status(of: group("group")).pending == 1)
    }

    @Test(arguments: TransportKind.allCases)
    func `retries after an outage of a dependency without counting failures`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.quick
        configuration.retryPolicy.maxFailures = 1
        configuration.retryPolicy.outageDelay = .milliseconds(5)
        let attempts = Atomic(0)
        let processor = RecordingProcessor { _, _ in
            if attempts.wrappingAdd(1, ordering: .relaxed).newValue < 10 { throw EventBusError(.unavailable, "away") }
        }
        let deadLetters = RecordingDeadLetters()
        try await withConsumer(transport, processor, configuration: configuration, deadLetters: deadLetters) {
            try await transport.append([1])
            await processor.waitFor(10)
            try await transport.waitUntilSettled()
        }
        #expect(processor.seen.allSatisfy { $0.deliveryCount == 1 })
        #expect(deadLetters.letters.isEmpty)
    }

    @Test(arguments: TransportKind.allCases)
    func `cancels a handler at its timeout, and retries`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.quick
        configuration.handlerTimeout = .milliseconds(100)
        let begun = Mutex<Set<Int>>([])
        let processor = RecordingProcessor { number, _ in
            if begun.withLock({ $0.insert(number).inserted }) { try await Task.sleep(for: .seconds(600)) }
        }
        try await withConsumer(transport, processor, configuration: configuration) {
            try await transport.append(1...20)
            await processor.wait { numbers in (1...20).allSatisfy { number in numbers.count { $0 == number } >= 2 } }
            try await transport.waitUntilSettled()
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `fails when a handler ignores its cancellation, so that its process is restarted`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        var configuration = EventConsumerConfiguration.quick
        configuration.handlerTimeout = .milliseconds(10)
        configuration.stallLimit = .milliseconds(400)
        configuration.drainTimeout = .milliseconds(10)
        let gate = AsyncLatch()
        let processor = RecordingProcessor { _, _ in
            while !gate.isOpen { await Task { await gate.wait(upTo: .milliseconds(50)) }.value }
        }
        let running = RunningConsumer(transport, processor, configuration: configuration)
        try await transport.append([1])
        // The consumer fails while the handler still runs: it does not wait for it.
        await #expect {
            try await running.task.value
        } throws: {
            ($0 as? EventBusError)?.code == .stalled
        }
        #expect(running.consumer.stalled.isOpen)
        gate.open()
    }
}
