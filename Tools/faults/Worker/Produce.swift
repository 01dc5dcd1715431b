public import ArgumentParser
import EventBus
public import FaultLedger
import FoundationEssentials
import Logging
import PostgresClient
import ServiceLifecycle
import WireFormat

extension WorkKind: ExpressibleByArgument {}

/// Publishes work at a steady rate; each transaction writes rows of the ledger and of the outbox.
struct Produce: AsyncParsableCommand {
    @OptionGroup var servers: Servers

    @Option(help: "How many transactions a second; 0 for as many as there can be.")
    var rate = 100.0

    @Option(help: "How many pieces of work a transaction promises.")
    var batch = 1

    @Option(help: "How many transactions to commit; without, until SIGTERM.")
    var count: Int?

    @Option(help: "What the work is.")
    var kind = WorkKind.chained

    mutating func run() async throws {
        let pace = ProducerPace(rate: rate, batch: batch, count: count, kind: kind)
        try await servers.run(connections: 1) { _, postgres, logger in
            [Producer(postgres: postgres, pace: pace, logger: logger)]
        }
    }
}

struct ProducerPace: Sendable {
    let rate: Double
    let batch: Int
    let count: Int?
    let kind: WorkKind
}

/// Publishes work until graceful shutdown, or until the number of transactions is reached.
struct Producer: Service {
    let postgres: PostgresClient
    let pace: ProducerPace
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var committed = 0
            let interval = pace.rate > 0 ? Duration.seconds(1 / pace.rate) : .zero
            var next = ContinuousClock.now
            while !Task.isCancelled, committed < pace.count ?? .max {
                do {
                    try await promise()
                    committed += 1
                } catch {
                    // The transaction may have been committed or not; in both cases the ledger and the outbox agree.
                    logger.debug("a promise failed", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: .milliseconds(100))
                }
                next = max(next + interval, ContinuousClock.now)
                try? await Task.sleep(until: next)
            }
        }
        // A service that returns early is a failure to its group.
        try? await gracefulShutdown()
    }

    private func promise() async throws {
        let ids = (0..<pace.batch).map { _ in UUIDv7.generate() }
        try await postgres.withTransaction { transaction in
            try await Ledger(transaction).publish(ids, kind: pace.kind)
            try await OutboxRepository(transaction).publish(ids.map { FaultWork(id: $0, kind: pace.kind) })
        }
    }
}
