public import AsyncPrimitives
public import CoreMetrics
public import FoundationEssentials
public import Logging
public import ServiceLifecycle

/// Repeats the steps of a service that repair or delete what crashes and retention leave.
///
/// Each step runs in a task of its own, so that one that waits, for instance for a silent object store, holds up no other. A step that
/// fails is logged and counted (`retention_step_failures_total`), and its next run tries again; `retention_step_overdue_seconds` shows a
/// step that does not end. Every instance of a service sweeps, so that a step has to bear others that do the same work.
public struct Sweeper: Service {
    private let steps: [Step]
    private let logger: Logger
    private let backoff: DeletionBackoff
    private let metrics: any MetricsFactory
    private let clock: any MonotonicClock

    /// Creates a sweeper.
    ///
    /// - Parameters:
    ///   - metrics: where items and failures are counted.
    ///   - clock: measures the intervals, and the delays of items that failed lately.
    public init(
        logger: Logger, metrics: any MetricsFactory = MetricsSystem.factory, clock: any MonotonicClock = ContinuousClock(), steps: [Step]
    ) {
        self.steps = steps
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        backoff = DeletionBackoff(clock: clock)
    }

    /// The names of the steps, by which ``sweep()`` reports.
    public var stepNames: [String] { steps.map(\.name) }

    /// Sweeps until the service shuts down.
    public func run() async throws {
        await withTaskGroup { group in
            for step in steps {
                recordEnd(of: step)
                group.addTask {
                    await periodically("sweep", every: step.interval, logger: logger, clock: clock) {
                        await sweep(step)
                        recordEnd(of: step)
                    }
                }
            }
        }
    }

    /// Records that a step has ended now, or is about to begin. The gauge is an age: the clock makes it grow to zero, when the step should
    /// have ended again, and beyond.
    private func recordEnd(of step: Step) {
        let overdue = Gauge(label: "retention_step_overdue_seconds", dimensions: [("step", step.name)], factory: metrics)
        overdue.record(-(step.interval / .seconds(1)))
    }

    /// Runs each step once, one after another.
    ///
    /// - Returns: The number of items by step, without the steps that failed or were cancelled.
    @discardableResult
    public func sweep() async -> [String: Int] {
        var counts: [String: Int] = [:]
        for step in steps where !Task.isCancelled { counts[step.name] = await sweep(step) }
        return counts
    }

    /// Runs a step once, and returns the number of its items; nil when it failed or was cancelled.
    @discardableResult
    private func sweep(_ step: Step) async -> Int? {
        // A step that fails has processed the items before the failure.
        var count = 0
        var isWhole = false
        do {
            try await step.body(Pass(logger: logger, backoff: backoff), &count)
            isWhole = true
        } catch  where Task.isCancelled {
            // A step that is cancelled has not failed.
        } catch {
            logger.warning("retention step failed", metadata: ["step": "\(step.name)", "error": "\(error)"])
            Counter(label: "retention_step_failures_total", dimensions: [("step", step.name)], factory: metrics).increment()
        }
        if count > 0 {
            logger.log(level: step.logLevel, "swept", metadata: ["step": "\(step.name)", "items": "\(count)"])
            Counter(label: "retention_step_items_total", dimensions: [("step", step.name)], factory: metrics).increment(by: count)
        }
        return isWhole ? count : nil
    }
}

extension Sweeper {
    /// One pass of a step.
    struct Pass {
        let logger: Logger
        let backoff: DeletionBackoff
    }

    /// A step of a sweeper.
    public struct Step: Sendable {
        /// The maximum number of items of a batch.
        public static let batchSize = 100

        /// The label of the metrics: lower case with underscores, never an id.
        let name: String
        let interval: Duration
        /// The level of the line that says how many items a run has processed.
        let logLevel: Logger.Level
        /// Runs the step once, and adds the number of items that it processes to `count`.
        let body: @Sendable (Pass, _ count: inout Int) async throws -> Void

        /// Makes a step of one call, which returns the number of items that it processed.
        ///
        /// - Parameters:
        ///   - interval: The pause between two runs.
        ///   - logLevel: `notice` for a step that repairs or finds the remains of a crash.
        public init(
            _ name: String, every interval: Duration, logLevel: Logger.Level = .debug,
            _ body: @escaping @Sendable () async throws -> Int
        ) {
            self.init(name: name, interval: interval, logLevel: logLevel) { _, count in count = try await body() }
        }

        private init(
            name: String, interval: Duration, logLevel: Logger.Level,
            body: @escaping @Sendable (Pass, _ count: inout Int) async throws -> Void
        ) {
            self.name = name
            self.interval = interval
            self.logLevel = logLevel
            self.body = body
        }

        /// Makes a step that processes batches until one has fewer than `size` items.
        ///
        /// - Parameter maxBatches: The maximum number of batches; the rest waits for the next run.
        public static func batches(
            _ name: String, every interval: Duration, of size: Int = batchSize, atMost maxBatches: Int = .max,
            logLevel: Logger.Level = .debug, _ process: @escaping @Sendable (_ limit: Int) async throws -> Int
        ) -> Step {
            Step(name: name, interval: interval, logLevel: logLevel) { _, total in
                for _ in 0..<maxBatches {
                    let count = try await process(size)
                    total += count
                    if count < size { break }
                }
            }
        }

        /// Makes a step that deletes items one by one, until no more are due or a whole batch could not be deleted.
        ///
        /// An item that cannot be deleted is delayed (see ``DeletionBackoff``), so that the items behind it get their turn in this run or
        /// the next. Such items fail the step, once per run. If a dependency is unavailable, the run ends with the first of them: each of
        /// the others would wait for it as well.
        ///
        /// - Parameters:
        ///   - id: returns the id of an item.
        ///   - due: returns at most `limit` items that are due for deletion, without the items of `except`.
        ///   - delete: deletes one item.
        public static func each<Item>(
            _ name: String, every interval: Duration, id: @escaping @Sendable (Item) -> UUID,
            due: @escaping @Sendable (_ limit: Int, _ except: [UUID]) async throws -> [Item],
            delete: @escaping @Sendable (Item) async throws -> Void
        ) -> Step {
            Step(name: name, interval: interval, logLevel: .debug) { pass, deleted in
                var failed = 0
                while true {
                    let items = try await due(batchSize, pass.backoff.delayedItems(in: name))
                    let before = deleted
                    for item in items {
                        try Task.checkCancellation()
                        do {
                            try await delete(item)
                            pass.backoff.recordSuccess(id(item), in: name)
                            deleted += 1
                        } catch {
                            try Task.checkCancellation()
                            pass.backoff.recordFailure(id(item), in: name)
                            failed += 1
                            pass.logger.error(
                                "deletion of an item failed", metadata: ["step": "\(name)", "id": "\(id(item))", "error": "\(error)"])
                            if error.isDependencyUnavailable { throw Undeleted(count: failed) }
                        }
                    }
                    guard items.count == batchSize, deleted > before else { break }
                }
                if failed > 0 { throw Undeleted(count: failed) }
            }
        }
    }

    private struct Undeleted: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) items could not be deleted and are tried again later" }
    }
}
