import Foundation
import Testing

@testable import MobileClient

/// What the tracker does when the network, the API, the disk or the process fails.
@Suite(.timeLimit(.minutes(5))) struct JobTroubleTests {
    @Test func `an order whose answer is lost is sent again by its key, and makes one job`() async throws {
        let bench = try JobBench()
        await bench.api.loseAnswer("POST")
        let id = try await bench.order()
        await bench.time.waitForSleepers(2)
        bench.time.advance(by: .seconds(2))
        await bench.time.waitForSleepers(2)
        let orders = await bench.api.requests.filter { $0.method == "POST" }
        #expect(orders.map(\.idempotencyKey) == [id, id])
        #expect(orders.map(\.body) == [Data("form".utf8), Data("form".utf8)])
        #expect(await bench.api.jobs.count == 1)
    }

    @Test func `an order that a crash interrupted is sent again by its key after the launch`() async throws {
        let bench = try JobBench()
        let task = try await bench.keep()
        await bench.api.set("completed")
        let next = try bench.relaunch()
        try await next.tracker.start()
        await next.api.waitForRequests(2)
        await next.api.set("completed")
        await next.tracker.pushArrived(jobID: "job-1")
        #expect(await next.outcome(of: task.id)?.isCompleted == true)
        #expect(await next.api.requests.first?.idempotencyKey == task.id)
        #expect(next.files.isEmpty)
    }

    @Test func `an order that the API refuses ends as refused`() async throws {
        let bench = try JobBench()
        await bench.api.fail("POST", HeliographError(.templateNotFound, "No template", status: 400, field: "template_id"))
        let id = try await bench.order()
        #expect(await bench.outcome(of: id) == .refused(.init(code: "template_not_found", message: "No template", field: "template_id")))
        #expect(bench.files.isEmpty)
    }

    @Test(arguments: [
        HeliographError(.requestInProgress, "", status: 409), HeliographError(.unauthorized, "", status: 401),
        HeliographError(.unexpectedAnswer, "of a captive network", status: 403), HeliographError(.storage, "locked"),
        HeliographError(.signedOut, ""), HeliographError(.overloaded, "", status: 503, isRetryable: true),
    ])
    func `an order that may succeed later is sent again`(error: HeliographError) async throws {
        let bench = try JobBench()
        await bench.api.fail("POST", error)
        _ = try await bench.order()
        await bench.time.waitForSleepers(2)
        bench.time.advance(by: .seconds(2))
        await bench.time.waitForSleepers(2)
        #expect(await bench.api.jobs.count == 1)
    }

    @Test func `the API's Retry-After is kept, and the network's return ends a wait`() async throws {
        let bench = try JobBench()
        await bench.api.fail("POST", HeliographError(.rateLimited, "", status: 429, retryAfter: .seconds(30), isRetryable: true))
        _ = try await bench.order()
        await bench.time.waitForSleepers(2)
        bench.time.advance(by: .seconds(29))
        #expect(await bench.api.requests.count == 1)
        await bench.tracker.networkReturned()
        await bench.api.waitForRequests(2)
    }

    @Test func `a read that fails is tried again with longer waits`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.fail("GET", FakeImagesAPI.unreachable, FakeImagesAPI.unreachable)
        await bench.api.set("completed")
        await bench.tracker.enterBackground()
        await bench.tracker.pushArrived(jobID: "job-1")
        await bench.time.waitForSleepers(2)
        bench.time.advance(by: .seconds(2))
        await bench.time.waitForSleepers(2)
        bench.time.advance(by: .seconds(4))
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers() == ["push", "push", "push"])
    }

    @Test(arguments: [
        (HeliographError(.jobNotFound, "Job not found", status: 404), JobUpdate.Outcome.expired),
        (HeliographError(.unexpectedAnswer, "Gone", status: 410), .expired),
        (HeliographError(.forbidden, "Access denied", status: 403), .refused(.init(code: "forbidden", message: "Access denied"))),
    ])
    func `a job that the API does not give ends`(error: HeliographError, outcome: JobUpdate.Outcome) async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.fail("GET", error)
        await bench.poll()
        #expect(await bench.outcome(of: id) == outcome)
        #expect(bench.files.isEmpty)
    }

    @Test func `a 404 of a proxy ends nothing`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.fail("GET", HeliographError(.unexpectedAnswer, "not of the API", status: 404))
        await bench.poll()
        await bench.time.waitForSleepers(2)
        await bench.api.set("completed")
        bench.time.advance(by: .seconds(3))
        #expect(await bench.outcome(of: id)?.isCompleted == true)
    }

    @Test func `an order ends as expired after 24 hours`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.tracker.enterBackground()
        bench.time.advance(by: .seconds(86_400))
        #expect(await bench.outcome(of: id) == .expired)
        #expect(bench.files.isEmpty)
    }

    @Test func `an order that is too old at the launch ends without a request`() async throws {
        let bench = try JobBench()
        let id = try await bench.keep().id
        let next = try bench.relaunch(after: 86_401)
        try await next.tracker.start()
        #expect(await next.outcome(of: id) == .expired)
        #expect(await next.api.requests.isEmpty)
    }

    @Test func `an order whose answer does not come until it is too old ends`() async throws {
        let bench = try JobBench()
        await bench.api.hold("POST")
        let id = try await bench.order()
        await bench.api.waitForRequests(1)
        bench.time.advance(by: .seconds(86_400))
        #expect(await bench.outcome(of: id) == .expired)
        await bench.api.release()
    }

    @Test func `an order whose next attempt comes after the device has slept for a day is not sent`() async throws {
        let bench = try JobBench()
        let slept = Locked(0.0)
        // The device's clock goes on while the app is suspended, and no wait of the app has ended yet.
        let time = TimeSource(
            now: { bench.time.now.addingTimeInterval(slept.withLock { $0 }) }, sleep: { try await bench.time.source.sleep($0) })
        let tracker = JobTracker(
            store: bench.store, sender: bench.sender, time: time, options: JobBench.options(),
            order: JobBench.orders(from: bench.store, by: bench.sender))
        await bench.api.fail("POST", FakeImagesAPI.unreachable)
        let task = try await bench.keep()
        await tracker.begin(task)
        // The deadline, and the next attempt.
        await bench.time.waitForSleepers(2)
        slept.withLock { $0 = 86_400 }
        await tracker.networkReturned()
        await until {
            if await !bench.api.jobs.isEmpty { return true }
            return await tracker.entries[task.id]?.latest?.outcome != nil
        }
        #expect(await tracker.entries[task.id]?.latest?.outcome == .expired)
        #expect(await bench.api.jobs.isEmpty)
    }

    @Test func `the app gets an end again after a crash until it has seen it`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        await bench.tracker.pushArrived(jobID: "job-1")
        // A reader that takes the end, and does not come back.
        var reader = bench.tracker.updates(of: id).makeAsyncIterator()
        while let update = await reader.next(), update.outcome == nil {}
        await bench.api.removeJobs()
        let second = try bench.relaunch(after: 90_000)
        #expect(await second.outcome(of: id)?.isCompleted == true)
        let third = try second.relaunch()
        #expect(await third.outcome(of: id) == nil)
        #expect(try await third.tracker.jobs().isEmpty)
        _ = await reader.next()
    }

    @Test func `the app gets an end that the full disk refused, and gets it again after a crash`() async throws {
        let clean = try JobBench()
        let id = try await clean.orderAndAccept()
        await clean.api.set("completed")
        let full = try JobBench(operations: FullDisk(), root: clean.root, api: clean.api)
        var reader = full.tracker.updates(of: id).makeAsyncIterator()
        while let update = await reader.next(), update.outcome == nil {}
        #expect(try await full.store.task(id)?.isFinished == false)
        let next = try clean.relaunch()
        #expect(await next.outcome(of: id)?.isCompleted == true)
        #expect(next.files.isEmpty)
        _ = await reader.next()
    }
}

/// A disk without space: files can be read and removed.
private struct FullDisk: GuardedFiles {
    func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result {
        if case .write = access { throw CocoaError(.fileWriteOutOfSpace) }
        return try body()
    }
}
