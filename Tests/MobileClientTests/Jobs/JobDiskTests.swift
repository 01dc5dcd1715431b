import Foundation
import Testing

@testable import MobileClient

/// An order whose process or disk stops at each step of the disk.
@Suite(.timeLimit(.minutes(5))) struct JobDiskTests {
    /// What an app sees in one process: how often it heard of the end.
    private func ends(of id: UUID, in bench: JobBench) async -> Int {
        var count = 0
        for await update in bench.tracker.updates(of: id) where update.outcome != nil { count += 1 }
        return count
    }

    @Test func `an order ends once in each process, and leaves nothing, wherever the disk stops`() async throws {
        var step = 1
        var endsAgain = 0
        while true {
            let operations = FaultyFiles(.crash(step: step, bytes: 10))
            let bench = try JobBench(operations: operations)
            let kept = try? await bench.orderAndAccept()
            if let kept {
                await bench.api.set("completed")
                await bench.tracker.pushArrived(jobID: "job-1")
                #expect(await ends(of: kept, in: bench) == 1, "step \(step)")
            }
            let next = try bench.relaunch(after: 10)
            let left = try await next.store.tasks().map(\.id)
            #expect(kept == nil || left.isEmpty || left == [kept], "step \(step)")
            try await next.tracker.start()
            for id in left {
                // One that was kept and not sent is sent now.
                if await next.api.jobs.isEmpty { await next.time.waitForSleepers(1) }
                await next.api.waitForRequests(await next.api.requests.isEmpty ? 1 : 2)
                await next.api.set("completed")
                await next.tracker.pushArrived(jobID: "job-1")
                #expect(await ends(of: id, in: next) == 1, "step \(step)")
                endsAgain += 1
            }
            #expect(await next.api.jobs.count <= 1, "step \(step)")
            let later = ManualTime(next.time.now.addingTimeInterval(4000))
            try await PendingTaskStore(folder: bench.root.url, time: later.source).sweep()
            #expect(bench.files.isEmpty, "step \(step)")
            if operations.steps < step { break }
            step += 1
        }
        // The order, its acceptance, its end and its removal are changes of several steps each.
        #expect(step > 10)
        #expect(endsAgain > 3)
    }

    @Test func `a thousand orders of before the launch are all followed`() async throws {
        let bench = try JobBench(root: .inMemory())
        for _ in 0..<1_000 { _ = try await bench.keep() }
        let next = try bench.relaunch(after: 90_000)
        var outcomes: [JobUpdate.Outcome] = []
        for await update in next.tracker.updates(of: nil) {
            if let outcome = update.outcome { outcomes.append(outcome) }
            if outcomes.count == 1_000 { break }
        }
        #expect(outcomes.allSatisfy { $0 == .expired })
        await until { await next.tracker.entries.isEmpty }
        #expect(next.files.isEmpty)
        #expect(await next.api.requests.isEmpty)
    }
}
