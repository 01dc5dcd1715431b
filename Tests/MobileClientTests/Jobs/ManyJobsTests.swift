import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct ManyJobsTests {
    /// The changes of files that so many orders cost, from the first request to the acknowledged end.
    private func run(_ count: Int) async throws -> Int {
        let operations = FaultyFiles()
        let bench = try JobBench(operations: operations, root: .inMemory())
        for _ in 0..<count { _ = try await bench.order() }
        await bench.time.waitForSleepers(2 * count)
        await bench.api.set("completed")
        for number in 1...count { await bench.tracker.pushArrived(jobID: "job-\(number)") }
        var ends = 0
        for await update in bench.tracker.updates(of: nil) where update.outcome != nil {
            ends += 1
            if ends == count { break }
        }
        await until { await bench.tracker.entries.isEmpty }
        #expect(bench.files.isEmpty)
        #expect(await bench.api.jobs.count == count)
        #expect(await bench.api.mostAtOnce <= 4)
        return operations.steps
    }

    @Test func `a thousand orders at once end, and cost ten times what a hundred cost`() async throws {
        let few = try await run(100)
        let many = try await run(1_000)
        // Of time nothing is said: a machine with much to do takes what it takes.
        #expect(many == few * 10)
    }

    @Test func `a gate lets the limit in, in order, and all in the end`() async throws {
        let gate = RequestGate(limit: 2)
        let (order, sink) = AsyncStream.makeStream(of: Int.self)
        await withTaskGroup { group in
            for number in 0..<20 { group.addTask { await gate.run { _ = sink.yield(number) } } }
        }
        sink.finish()
        #expect(await order.reduce(into: Set<Int>()) { $0.insert($1) } == Set(0..<20))
    }

    @Test func `the oldest values are forgotten`() {
        var recent = RecentJobs<Int, String>(limit: 3)
        for number in 0..<5 { recent.keep("\(number)", for: number) }
        recent.keep("new", for: 3)
        #expect((0..<5).map { recent[$0] } == [nil, nil, "2", "new", "4"])
    }
}
