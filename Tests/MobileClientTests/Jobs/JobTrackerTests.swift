import Foundation
import Testing

@testable import MobileClient

/// How the tracker finds the end of an order.
@Suite(.timeLimit(.minutes(5))) struct JobTrackerTests {
    @Test func `a poll finds the end, and nothing is left when the app has it`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.poll()
        await bench.time.waitForSleepers(2)
        await bench.api.set("completed")
        await bench.poll()
        let outcome = await bench.outcome(of: id)
        #expect(outcome == .completed(.init(imageURL: "https://cdn.example/job-1.png", templateName: "Ink")))
        #expect(await bench.triggers() == ["poll", "poll"])
        #expect(bench.files.isEmpty)
        #expect(try await bench.tracker.jobs().isEmpty)
    }

    @Test func `a poll without news costs an answer without a body`() async throws {
        let bench = try JobBench()
        _ = try await bench.orderAndAccept()
        await bench.poll()
        await bench.time.waitForSleepers(2)
        await bench.poll()
        await bench.time.waitForSleepers(2)
        let tags = await bench.api.requests.filter { $0.method == "GET" }.map { $0.headers["If-None-Match"] }
        #expect(tags == [nil, "W/\"job-1-pending\""])
        #expect(await bench.api.requests.last?.query == [URLQueryItem(name: "result", value: "url")])
    }

    @Test func `a push finds the end before the first poll`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("failed")
        #expect(await bench.tracker.pushArrived(jobID: "job-1"))
        #expect(await bench.outcome(of: id) == .failed(.init(code: "processing_failed", message: "No picture")))
        #expect(await bench.triggers() == ["push"])
    }

    @Test func `a push that overtakes the answer of a poll is looked after`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.hold("GET")
        await bench.poll()
        await bench.api.set("completed")
        await bench.tracker.pushArrived(jobID: "job-1")
        await bench.tracker.pushArrived(jobID: "job-1")
        await bench.api.release()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers() == ["poll", "push"])
    }

    @Test func `a push that comes before the answer to the order is not lost`() async throws {
        let bench = try JobBench()
        await bench.api.hold("POST")
        let id = try await bench.order()
        await bench.api.waitForRequests(1)
        await bench.api.set("completed")
        #expect(await bench.tracker.pushArrived(jobID: "job-1") == false)
        await bench.api.release()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers() == ["push"])
    }

    @Test func `a push of another device's job is none of this one's`() async throws {
        let bench = try JobBench()
        _ = try await bench.orderAndAccept()
        #expect(await bench.tracker.pushArrived(jobID: "job-99") == false)
        #expect(await bench.tracker.pushArrived(jobID: "../jobs") == false)
        #expect(await bench.api.requests.count == 1)
    }

    @Test func `a launch finds the end`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        let next = try bench.relaunch(after: 3600)
        try await next.tracker.start()
        #expect(await next.outcome(of: id)?.isCompleted == true)
        #expect(await next.triggers() == ["launch"])
        #expect(next.files.isEmpty)
    }

    @Test func `a push that wakes the app in the background finds the end`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        let next = try bench.relaunch(after: 60, isInForeground: false)
        #expect(await next.tracker.pushArrived(jobID: "job-1"))
        #expect(await next.outcome(of: id)?.isCompleted == true)
    }

    @Test func `after 20 polls the client waits for a push`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        for _ in 0..<19 {
            await bench.poll()
            await bench.time.waitForSleepers(2)
        }
        await bench.poll()
        for await update in bench.tracker.updates(of: id) where update.state == .inBackground { break }
        bench.time.advance(by: .seconds(600))
        #expect(await bench.triggers().count == 20)
        await bench.api.set("completed")
        await bench.tracker.pushArrived(jobID: "job-1")
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers().last == "push")
    }

    @Test func `the progress of polls grows`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        var updates = bench.tracker.updates(of: id).makeAsyncIterator()
        #expect(await updates.next()?.state == .active(.init(status: "pending", fraction: 0)))
        await bench.api.set("processing")
        await bench.poll()
        #expect(await updates.next()?.state == .active(.init(status: "processing", fraction: 0.05)))
        await bench.time.waitForSleepers(2)
        await bench.poll()
        #expect(await updates.next()?.state == .active(.init(status: "processing", fraction: 0.1)))
    }

    @Test func `nothing is polled in the background, and the return to the foreground looks`() async throws {
        let bench = try JobBench()
        let id = try await bench.orderAndAccept()
        await bench.tracker.enterBackground()
        bench.time.advance(by: .seconds(60))
        await bench.api.set("completed")
        #expect(await bench.api.requests.count == 1)
        await bench.tracker.enterForeground()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers() == ["launch"])
    }
}
