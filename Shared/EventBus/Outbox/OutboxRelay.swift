public import AsyncPrimitives
import FoundationEssentials
public import Logging
import Metrics
public import PostgresClient
public import ServiceLifecycle
import WireFormat

/// Carries committed messages from the outbox to their streams.
///
/// It takes rows that no other relay has locked, appends them in one pipeline, records their entry ids and commits;
/// any number of relays may run. A crash between append and commit sends messages twice, with the same ids, which the inbox
/// absorbs. The rows stay, for the ``Republisher``. A relay is woken by the commits of its own process, and by the notifications of
/// processes without a relay; it also polls, in case both were missed.
public struct OutboxRelay: Service {
    private let transport: any EventAppender
    private let postgres: PostgresClient
    private let configuration: OutboxRelayConfiguration
    private let logger: Logger
    private let clock: any MonotonicClock
    private let metrics = RelayMetrics()

    /// Makes a relay; the transport limits how long an append may take, and with it how long rows stay locked.
    public init(
        transport: any EventAppender, postgres: PostgresClient,
        configuration: OutboxRelayConfiguration = OutboxRelayConfiguration(), logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) {
        self.transport = transport
        self.postgres = postgres
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
    }

    /// Relays until graceful shutdown, and then one more batch, for the messages that were committed last.
    public func run() async throws {
        let signal = AsyncSignal()
        let stopping = AsyncLatch()
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup { group in
                group.addTask { await listen(signalling: signal, until: stopping) }
                await relay(wokenBy: signal, until: stopping)
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            stopping.open()
            signal.signal()
        }
    }

    private func listen(signalling signal: AsyncSignal, until stopping: AsyncLatch) async {
        for await _ in postgres.notifications(on: OutboxRepository.channel) {
            if stopping.isOpen { return }
            signal.signal()
        }
    }

    private func relay(wokenBy signal: AsyncSignal, until stopping: AsyncLatch) async {
        var pace = RelayPace(configuration)
        while true {
            let isLast = stopping.isOpen
            do {
                let count = try await relayBatch()
                pace.relayed(count)
            } catch {
                if Task.isCancelled { return }
                pace.failed()
                metrics.failures.increment()
                logger.warning("Relaying failed; trying again", metadata: ["error": "\(error)"])
            }
            if isLast { return }
            if let pause = pace.pause() {
                // After a failure, new rows do not end the pause: the server has to recover first.
                if pace.isFailing { await stopping.wait(upTo: pause, clock: clock) } else { await signal.wait(upTo: pause, clock: clock) }
            }
        }
    }

    /// Relays one batch and returns the number of rows found.
    func relayBatch() async throws -> Int {
        let start = clock.now
        let trace = PublishSpans()
        let (found, sent, refused) = try await postgres.withTransaction { transaction in
            let outbox = OutboxRepository(transaction)
            // A plan made while the outbox was empty would scan all of it.
            try await transaction.forceIndexPlans(replan: false)
            let messages = try await outbox.takeBatch(limit: configuration.batchSize)
            guard !messages.isEmpty else { return (0, 0, 0) }
            // If the server loses an asynchronous commit, the messages are sent once more; the inbox absorbs that.
            try await transaction.commitAsynchronously()
            let results = try await transport.append(
                messages.map { OutgoingEntry(stream: $0.stream, envelope: $0.envelope, onlyGroups: $0.onlyGroups) })
            var sent: [OutboxPublication] = []
            var refused: [UUID] = []
            var failures: [EventBusError] = []
            for (message, result) in zip(messages, results) {
                switch result {
                case .success(let entry):
                    trace.sent(message)
                    sent.append(OutboxPublication(messageID: message.envelope.id, entryID: entry.description))
                case .failure(let error):
                    // A message that the server cannot take now is sent with the next batch. A message that it refuses for good is
                    // postponed, so that it does not block the others.
                    if error.code == .refused { refused.append(message.envelope.id) }
                    failures.append(error)
                }
            }
            // One line per batch: a server without memory refuses hundreds of messages per second.
            if let error = failures.first {
                logger.error(
                    "Streams refused messages; they stay in the outbox",
                    metadata: ["count": "\(failures.count)", "error": "\(error)"])
            }
            try await outbox.markPublished(sent, wait: configuration.confirmWait, maxWait: configuration.maxConfirmWait)
            try await outbox.postpone(refused)
            return (messages.count, sent.count, refused.count)
        }
        guard found > 0 else { return 0 }
        metrics.published.increment(by: sent)
        metrics.refused.increment(by: found - sent)
        metrics.relaying.record(duration: clock.now - start)
        // Some messages failed for a reason that may pass, such as a lack of memory: the error makes the relay wait for the server.
        if sent + refused < found { throw EventBusError(.unavailable, "not every message of a batch was taken") }
        return found
    }
}
