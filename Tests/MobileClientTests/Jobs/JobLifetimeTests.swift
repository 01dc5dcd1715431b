import Foundation
import Testing

@testable import MobileClient

/// What becomes of orders when the app releases its client.
@Suite(.timeLimit(.minutes(1))) struct JobLifetimeTests {
    @Test func `an order of a released client is cancelled, and is kept for the next one`() async throws {
        let bench = try JobBench()
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        var tracker: JobTracker? = JobTracker(
            store: bench.store, sender: bench.sender, time: bench.time.source, options: JobBench.options(),
            order: { _ throws(HeliographError) in
                await withTaskCancellationHandler {
                    reach.yield()
                    for await _ in cancelled { break }
                } onCancel: {
                    cancel.finish()
                }
                throw HeliographError(.cancelled, "The upload was cancelled")
            })
        let task = try await bench.keep()
        await tracker?.begin(task)
        for await _ in reached { break }
        tracker = nil
        await until { bench.time.sleeperCount == 0 }
        #expect(try await bench.store.task(task.id)?.isFinished == false)
    }
}
