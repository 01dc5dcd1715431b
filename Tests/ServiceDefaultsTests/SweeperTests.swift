import AsyncPrimitives
import CoreMetrics
import EventBus
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite(.timeLimit(.minutes(1)))
struct SweeperTests {
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

    private let registry: PrometheusRegistry
    private let clock = ManualClock()

    init() { registry = PrometheusRegistry(clock: clock) }

    private func sweeper(_ steps: [Sweeper.Step]) -> Sweeper {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Sweeper(logger: logger, metrics: PrometheusMetricsFactory(registry: registry), clock: clock, steps: steps)
    }

    private func step(_ items: Items, _ delete: @escaping @Sendable (UUID) throws -> Void) -> Sweeper.Step {
        .each("items", every: .seconds(1), id: { $0 }, due: { items.due($0, $1) }, delete: { try delete($0) })
    }

    @Test func `a failed step is counted, and the next one runs`() async {
        let sweeper = sweeper([
            Sweeper.Step("first", every: .seconds(1)) { throw Stuck() }, Sweeper.Step("second", every: .seconds(2)) { 5 },
        ])
        #expect(await sweeper.sweep() == ["second": 5])
        #expect(registry.exposition().contains(#"retention_step_failures_total{step="first"} 1"#))
        #expect(registry.exposition().contains(#"retention_step_items_total{step="second"} 5"#))
        #expect(!registry.exposition().contains(#"failures_total{step="second""#))
    }

    @Test func `a step that does not end holds up no other, and is overdue`() async throws {
        let endless = AsyncStream<Void>.makeStream()
        let runs = AsyncStream<Void>.makeStream()
        let sweeper = sweeper([
            Sweeper.Step("stuck", every: .seconds(5)) {
                for await _ in endless.stream {}
                return 0
            },
            Sweeper.Step("other", every: .seconds(5)) {
                runs.continuation.yield()
                return 0
            },
        ])
        let running = Task { try await sweeper.run() }
        for _ in 0..<3 {
            for await _ in runs.stream { break }
            await clock.waitForSleep(of: .seconds(5))
            clock.advance(by: .seconds(5))
        }
        for await _ in runs.stream { break }
        await clock.waitForSleep(of: .seconds(5))
        clock.advance(by: PrometheusRegistry.gaugeLifetime)
        let text = registry.exposition()
        #expect(text.contains(#"retention_step_overdue_seconds{step="stuck"} 70.0"#), "\(text)")
        running.cancel()
        try await running.value
    }

    @Test func `the run of a step ends with the first item that a dependency does not allow to delete`() async {
        let tries = Mutex(0)
        let items = Items(stuck: 0, others: 3)
        let sweeper = sweeper([
            step(items) { _ in
                tries.withLock { $0 += 1 }
                throw EventBusError(.unavailable, "away")
            }
        ])
        for expected in 1...3 {
            #expect(await sweeper.sweep().isEmpty)
            #expect(tries.withLock { $0 } == expected)
        }
    }

    @Test func `batches end with one that is not full, or at their maximum`() async {
        let left = Mutex(25)
        let take: @Sendable (Int) -> Int = { limit in
            left.withLock { left in
                let taken = min(left, limit)
                left -= taken
                return taken
            }
        }
        let sweeper = sweeper([.batches("rows", every: .seconds(1), of: 10, atMost: 2) { take($0) }])
        #expect(await sweeper.sweep() == ["rows": 20])
        #expect(await sweeper.sweep() == ["rows": 5])
    }

    @Test func `items that cannot be deleted do not block the items behind them`() async {
        let items = Items(stuck: Sweeper.Step.batchSize * 2, others: 7)
        let sweeper = sweeper([step(items) { try items.delete($0) }])
        for _ in 0..<3 { await sweeper.sweep() }
        #expect(items.left == items.stuck)
        #expect(registry.exposition().contains(#"retention_step_items_total{step="items"} 7"#), "of steps that fail too")
    }

    @Test func `an item that could not be deleted is attempted again after its delay`() async {
        let tries = Mutex(0)
        let items = Items(stuck: 1, others: 0)
        let sweeper = sweeper([
            step(items) {
                tries.withLock { $0 += 1 }
                try items.delete($0)
            }
        ])
        for (sweeps, expected) in [(2, 1), (2, 2), (1, 2), (1, 3)] {
            for _ in 0..<sweeps { await sweeper.sweep() }
            #expect(tries.withLock { $0 } == expected)
            clock.advance(by: DeletionBackoff.backoff.min)
        }
        #expect(registry.exposition().contains(#"retention_step_failures_total{step="items"} 3"#))
    }
}
