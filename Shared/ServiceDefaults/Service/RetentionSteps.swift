public import CoreMetrics
public import FoundationEssentials
public import Logging

/// Runs the steps of a sweep independently of each other: a failed step is logged and counted
/// (`retention_step_failures_total`), and the steps after it still run.
///
/// A step name is a label of that metric: lower case with underscores, never an id.
public struct RetentionSteps: Sendable {
    /// Maximum number of items that one call of `due` returns.
    public static let batchSize = 100

    private let logger: Logger
    private let backoff: DeletionBackoff
    private let metrics: any MetricsFactory

    /// Creates the steps of one sweep.
    ///
    /// - Parameters:
    ///   - backoff: the items that failed lately. It outlives the sweep: the sweeper keeps it.
    ///   - metrics: where failures are counted.
    public init(logger: Logger, backoff: DeletionBackoff = DeletionBackoff(), metrics: any MetricsFactory = MetricsSystem.factory) {
        self.logger = logger
        self.backoff = backoff
        self.metrics = metrics
    }

    /// Runs one step and returns its result; nil when it failed or the task is cancelled, which is no failure.
    @discardableResult
    public func run<Result>(_ step: String, _ body: () async throws -> Result) async -> Result? {
        guard !Task.isCancelled else { return nil }
        do {
            return try await body()
        } catch {
            guard !Task.isCancelled else { return nil }
            logger.warning("retention step failed", metadata: ["step": "\(step)", "error": "\(error)"])
            Counter(label: "retention_step_failures_total", dimensions: [("step", step)], factory: metrics).increment()
            return nil
        }
    }

    /// Runs `deleteBatch` until it deletes fewer than ``batchSize`` items, as one step.
    public func drain(_ step: String, _ deleteBatch: (_ limit: Int) async throws -> Int) async {
        await run(step) {
            while try await deleteBatch(Self.batchSize) == Self.batchSize {}
        }
    }

    /// Deletes items one by one, as one step, until no more are due or a whole batch could not be deleted.
    ///
    /// An item that cannot be deleted is delayed (see ``DeletionBackoff``), so that the items behind it get their turn in this sweep
    /// or the next. Such items fail the step, once per sweep.
    ///
    /// - Parameters:
    ///   - id: returns the id of an item.
    ///   - due: returns at most `limit` items that are due for deletion, none of `except`.
    ///   - delete: deletes one item.
    public func deleteEach<Item>(
        _ step: String, id: (Item) -> UUID, due: (_ limit: Int, _ except: [UUID]) async throws -> [Item],
        delete: (Item) async throws -> Void
    ) async {
        await run(step) {
            var (deleted, failed) = (0, 0)
            while true {
                let items = try await due(Self.batchSize, backoff.delayedItems(in: step))
                let before = deleted
                for item in items {
                    try Task.checkCancellation()
                    do {
                        try await delete(item)
                        backoff.recordSuccess(id(item), in: step)
                        deleted += 1
                    } catch {
                        try Task.checkCancellation()
                        backoff.recordFailure(id(item), in: step)
                        failed += 1
                        logger.error(
                            "deletion of an item failed", metadata: ["step": "\(step)", "id": "\(id(item))", "error": "\(error)"])
                    }
                }
                guard items.count == Self.batchSize, deleted > before else { break }
            }
            if deleted > 0 { logger.info("items deleted", metadata: ["step": "\(step)", "count": "\(deleted)"]) }
            if failed > 0 { throw Undeleted(count: failed) }
        }
    }

    private struct Undeleted: Error, CustomStringConvertible {
        let count: Int
        var description: String { "\(count) items could not be deleted and are tried again later" }
    }
}
