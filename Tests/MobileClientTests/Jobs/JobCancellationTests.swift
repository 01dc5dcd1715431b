import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct JobCancellationTests {
    @Test func `an order is cancelled at the API, and ends as cancelled`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        try await bench.tracker.cancel(id)
        #expect(await bench.outcome(of: id) == .cancelled)
        #expect(await bench.api.jobs.isEmpty)
        #expect(bench.files.isEmpty)
    }

    @Test func `an order that is cancelled before its answer is there is cancelled after it`() async throws {
        let bench = try JobBench()
        await bench.api.hold("POST")
        let id = try await bench.order()
        await bench.api.waitForRequests(1)
        try await bench.tracker.cancel(id)
        #expect(await bench.api.requests.count == 1)
        await bench.api.release()
        #expect(await bench.outcome(of: id) == .cancelled)
        #expect(await bench.api.requests.map(\.method) == ["POST", "DELETE"])
        #expect(await bench.api.jobs.isEmpty)
    }

    @Test func `a cancellation wins over a result that is on its way`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        await bench.api.hold("GET")
        await bench.tracker.pushArrived(jobID: "job-1")
        await bench.api.waitForRequests(2)
        try await bench.tracker.cancel(id)
        await bench.api.release()
        #expect(await bench.outcome(of: id) == .cancelled)
    }

    @Test func `a cancellation without a network goes on after a launch`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.fail("DELETE", FakeImagesAPI.unreachable)
        try await bench.tracker.cancel(id)
        await bench.api.waitForRequests(2)
        let next = try bench.relaunch(after: 60)
        try await next.tracker.start()
        #expect(await next.outcome(of: id) == .cancelled)
        #expect(await next.api.jobs.isEmpty)
    }

    @Test func `a job that is gone already is cancelled`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.removeJobs()
        try await bench.tracker.cancel(id)
        #expect(await bench.outcome(of: id) == .cancelled)
    }

    @Test func `a cancellation after the end changes nothing`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        await bench.tracker.pushArrived(jobID: "job-1")
        var reader = bench.tracker.updates(of: id).makeAsyncIterator()
        while let update = await reader.next(), update.outcome == nil {}
        try await bench.tracker.cancel(id)
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.api.jobs.count == 1)
        _ = await reader.next()
    }

    @Test func `at the end of a sign-in all orders end as cancelled without a request, and leave nothing`() async throws {
        let bench = try JobBench()
        let first = try await bench.orderAndAccept()
        await bench.api.hold("POST")
        let second = try await bench.order()
        await bench.api.waitForRequests(2)
        let reader = bench.tracker.updates(of: first)
        try await bench.tracker.forgetAll()
        await bench.api.release()
        var last: JobUpdate?
        for await update in reader { last = update }
        #expect(last?.outcome == .cancelled)
        #expect(await bench.outcome(of: second) == .cancelled)
        #expect(await bench.api.requests.count == 2)
        #expect(bench.files.isEmpty)
        #expect(try await bench.tracker.jobs().isEmpty)
    }

    @Test func `the orders of another account are forgotten at the launch, and after its sign-in`() async throws {
        let bench = try JobBench(owner: "ann")
        let id = try await bench.orderAndAccept()
        let next = try bench.relaunch(owner: "bob")
        try await next.tracker.start()
        #expect(await next.outcome(of: id) == .cancelled)
        #expect(await next.api.requests.count == 1)
        #expect(next.files.isEmpty)
        let own = try await next.orderAndAccept()
        await next.tracker.forgetOthers()
        #expect(try await next.tracker.jobs().map(\.id) == [own])
    }

    @Test func `the orders of an account wait while none is signed in`() async throws {
        let bench = try JobBench(owner: "ann")
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        let next = try bench.relaunch()
        try await next.tracker.start()
        #expect(await next.outcome(of: id)?.isCompleted == true)
    }
}
