import PostgresClient
import Synchronization
import TestSupport
import Testing

@testable import EventBus

/// The handling of messages while Postgres is away, tested on every transport.
@Suite("A consumer during an outage of Postgres", .timeLimit(.minutes(3)))
struct OutageConformanceTests {
    /// The virtual time that passes between two looks at the consumer; longer than the longest delay after an outage.
    private static let step = Duration.seconds(10)

    @Test(arguments: TransportKind.allCases)
    func `counts no failure in an hour in which no connection can be made`(_ kind: TransportKind) async throws {
        let transport = try await kind.transport()
        let clock = ManualClock(isRunning: true)
        var address = PostgresConfiguration(url: "postgresql://heliograph@127.0.0.1:\(try FreePort.find())/postgres")
        address.unreachableTimeout = .milliseconds(1)
        let postgres = try PostgresClient(configuration: address, logger: .quiet)
        let end = clock.now + .seconds(3600)
        let isHandled = Atomic(false)
        let processor = RecordingProcessor { _, _ in
            if clock.now < end { try await postgres.execute("SELECT 1") }
            isHandled.store(true, ordering: .relaxed)
        }
        var configuration = EventConsumerConfiguration.withoutClaims
        // Redis measures the delays of retries itself.
        configuration.retryPolicy.outageDelay = .milliseconds(5)
        // To the consumer's guard every step takes hundreds of seconds.
        (configuration.stallLimit, configuration.handlerTimeout) = (.seconds(1_000_000), .seconds(1_000_000))
        let deadLetters = RecordingDeadLetters()
        let running = RunningConsumer(transport, processor, configuration: configuration, deadLetters: deadLetters, clock: clock)
        try await finally {
            await running.drain()
            await postgres.shutdown()
        } after: {
            try await transport.append([1])
            try await eventually("the message is handled after the hour; attempts: \(processor.seen.count)") {
                clock.advance(by: Self.step)
                return isHandled.load(ordering: .relaxed) ? () : nil
            }
            try await transport.waitUntilSettled()
        }
        #expect(processor.seen.count > configuration.retryPolicy.maxFailures)
        #expect(processor.seen.allSatisfy { $0.deliveryCount == 1 })
        #expect(deadLetters.letters.isEmpty)
    }
}
