import AsyncPrimitives
import CoreMetrics
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite struct RetentionStepsTests {
    private struct Stuck: Error {}

    /// Items in the order in which they are due, some of which cannot be deleted.
    private final class Items: Sendable {
        private let state: Mutex<[UUID]>
        let stuck: Set<UUID>

        init(stuck: Int, others: Int) {
            let bad = (0..<stuck).map { _ in UUID() }
            self.stuck = Set(bad)
            state = Mutex(bad + (0..<others).map { _ in UUID() })
        }

        var left: Set<UUID> { state.withLock { Set($0) } }

        func due(_ limit: Int, _ except: [UUID]) -> [UUID] {
            state.withLock { items in Array(items.filter { !except.contains($0) }.prefix(limit)) }
        }

        func delete(_ id: UUID) throws {
            if stuck.contains(id) { throw Stuck() }
            state.withLock { $0.removeAll { $0 == id } }
        }
    }

    private let registry = PrometheusRegistry()
    private let clock = ManualClock()

    private func steps(_ backoff: DeletionBackoff = DeletionBackoff()) -> RetentionSteps {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return RetentionSteps(logger: logger, backoff: backoff, metrics: PrometheusMetricsFactory(registry: registry))
    }

    @Test func `a failed step is counted, and the next one runs`() async {
        let steps = steps()
        await steps.run("first") { throw Stuck() }
        #expect(await steps.run("second") { 5 } == 5)
        #expect(registry.exposition().contains(#"retention_step_failures_total{step="first"} 1"#))
        #expect(!registry.exposition().contains(#"step="second""#))
    }

    @Test func `items that cannot be deleted do not block the items behind them`() async {
        let items = Items(stuck: RetentionSteps.batchSize * 2, others: 7)
        let backoff = DeletionBackoff(clock: clock)
        for _ in 0..<3 {
            await steps(backoff).deleteEach("items", id: { $0 }, due: { items.due($0, $1) }, delete: { try items.delete($0) })
        }
        #expect(items.left == items.stuck)
    }

    @Test func `an item that could not be deleted is attempted again after its delay`() async {
        let tries = Mutex(0)
        let items = Items(stuck: 1, others: 0)
        let backoff = DeletionBackoff(clock: clock)
        func sweep() async {
            await steps(backoff).deleteEach("items", id: { $0 }, due: { items.due($0, $1) }) {
                tries.withLock { $0 += 1 }
                try items.delete($0)
            }
        }
        await sweep()
        await sweep()
        #expect(tries.withLock { $0 } == 1)
        clock.advance(by: DeletionBackoff.backoff.min)
        await sweep()
        await sweep()
        #expect(tries.withLock { $0 } == 2)
        clock.advance(by: DeletionBackoff.backoff.min)
        await sweep()
        #expect(tries.withLock { $0 } == 2)
        clock.advance(by: DeletionBackoff.backoff.min)
        await sweep()
        #expect(tries.withLock { $0 } == 3)
        #expect(registry.exposition().contains(#"retention_step_failures_total{step="items"} 3"#))
    }
}
