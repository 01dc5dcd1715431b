import AsyncPrimitives
import Synchronization
import TestSupport
import WireFormat

@testable import EventBus

/// Records the messages that it handles, and runs a closure of the test for each.
final class RecordingProcessor: MessageProcessor {
    struct Seen: Sendable, Equatable {
        var number: Int
        var deliveryCount: Int
    }

    private struct State {
        var seen: [Seen] = []
        var running = 0
        var mostRunning = 0
    }

    private let state = Mutex(State())
    private let seenAdded = AsyncSignal()
    private let unit: Int
    private let body: @Sendable (Int, Int) async throws -> Void

    /// - Parameter body: Called with each message's number and delivery count; an error that it throws is the message's result.
    init(unit: Int = 1, _ body: @escaping @Sendable (Int, Int) async throws -> Void = { _, _ in }) {
        self.unit = unit
        self.body = body
    }

    var seen: [Seen] { state.withLock { $0.seen } }
    var numbers: [Int] { seen.map(\.number) }
    var mostRunning: Int { state.withLock { $0.mostRunning } }

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { unit }
    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { unit == 1 ? configuration.concurrency : 1 }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        state.withLock { state in
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
        var results: [ProcessingResult] = []
        for entry in entries {
            guard let number = try? number(of: entry) else {
                results.append(.unreadable(WireFormatError(.malformedBody, "no number")))
                continue
            }
            let deliveries = entry.deliveryCount + entry.failures
            state.withLock { $0.seen.append(Seen(number: number, deliveryCount: deliveries)) }
            seenAdded.signal()
            do {
                try await body(number, deliveries)
                results.append(.handled)
            } catch {
                results.append(.failed(error))
            }
        }
        state.withLock { $0.running -= 1 }
        return results
    }

    /// Waits until so many messages are seen.
    func waitFor(_ count: Int) async { await wait { $0.count >= count } }

    /// Waits until the numbers of the messages that are seen meet a condition; one task at a time.
    func wait(until isMet: ([Int]) -> Bool) async {
        while !isMet(numbers), !Task.isCancelled { await seenAdded.wait() }
    }
}

struct TestFailure: Error {}

/// A consumer that runs in a task of its own.
struct RunningConsumer {
    let consumer: StreamConsumer
    let task: Task<Void, any Error>

    init(
        _ transport: any EventTransport, _ processor: some MessageProcessor, group: String = "group",
        name: String = "consumer", stream: String = testStream, configuration: EventConsumerConfiguration = .quick,
        deadLetters: any DeadLetterStore = RecordingDeadLetters(), isolation: IsolationLane = IsolationLane(),
        clock: any MonotonicClock = ContinuousClock()
    ) {
        let consumer = StreamConsumer(
            scope: ConsumerScope(group: group, consumer: name, stream: stream, logger: .quiet, clock: clock), transport: transport,
            processor: processor, deadLetters: deadLetters, configuration: configuration, isolation: isolation)
        self.consumer = consumer
        task = Task { try await consumer.run() }
    }

    /// Drains the consumer, as a graceful shutdown does, and waits for its end.
    func drain() async {
        consumer.stop()
        _ = await task.result
    }
}

/// Runs a consumer while `body` runs, and drains it afterwards.
func withConsumer(
    _ transport: any EventTransport, _ processor: some MessageProcessor, group: String = "group",
    name: String = "consumer", configuration: EventConsumerConfiguration = .quick,
    deadLetters: any DeadLetterStore = RecordingDeadLetters(), _ body: () async throws -> Void
) async throws {
    let running = RunningConsumer(
        transport, processor, group: group, name: name, configuration: configuration, deadLetters: deadLetters)
    do {
        try await body()
        await running.drain()
    } catch {
        await running.drain()
        throw error
    }
}
