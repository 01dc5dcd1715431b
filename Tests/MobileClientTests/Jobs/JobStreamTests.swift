import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct JobStreamTests {
    private func event(_ status: String, _ rest: String = "") -> String {
        "id: 1\nevent: state\ndata: {\"status\":\"\(status)\"\(rest)}\n\n"
    }

    @Test func `a stream tells of progress and of the end, which is read`() async throws {
        let bench = try JobBench(options: JobBench.options(maxStreams: 1))
        await bench.api.hold("POST")
        let id = try await bench.order()
        await bench.api.waitForRequests(1)
        await bench.api.set("completed")
        await bench.api.setStream(event("processing", ",\"percent\":40,\"queue_position\":null") + event("completed", ",\"percent\":100"))
        await bench.api.release()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.api.requests.map(\.path).suffix(2) == ["/v1/images/jobs/job-1/events", "/v1/images/jobs/job-1"])
    }

    @Test func `a stream's progress is the API's percentage and place in the queue`() async throws {
        let bench = try JobBench(options: JobBench.options(maxStreams: 1))
        await bench.api.hold("GET")
        await bench.api.setStream(event("pending", ",\"queue_position\":7,\"percent\":0") + event("drawing", ",\"percent\":140"))
        let id = try await bench.order()
        await bench.api.waitForRequests(2)
        let updates = bench.tracker.updates(of: id)
        await bench.api.release()
        var seen: [JobUpdate.State] = []
        for await update in updates {
            seen.append(update.state)
            if case .active(let progress) = update.state, progress.status == "drawing" { break }
        }
        // Earlier ones may have been replaced before the reader came for them.
        #expect(seen.last == .active(.init(status: "drawing", fraction: 1)))
    }

    @Test func `polls take over from a stream that breaks`() async throws {
        let bench = try JobBench(options: JobBench.options(maxStreams: 1))
        await bench.api.setStream(event("processing") + "data: no JSON\n\n")
        let id = try await bench.orderAndAccept()
        await bench.api.set("completed")
        await bench.poll()
        #expect(await bench.outcome(of: id)?.isCompleted == true)
        #expect(await bench.triggers() == [nil, "poll"])
    }

    @Test func `orders beyond the number of streams are polled`() async throws {
        let bench = try JobBench(options: JobBench.options(maxStreams: 1))
        await bench.api.hold("GET")
        _ = try await bench.order()
        await bench.api.waitForRequests(2)
        let second = try await bench.order()
        // Two deadlines, and the poll of the second.
        await bench.time.waitForSleepers(3)
        await bench.api.release()
        await bench.api.set("completed")
        bench.time.advance(by: .seconds(3))
        #expect(await bench.outcome(of: second)?.isCompleted == true)
    }

    @Test func `a stream is closed in the background`() async throws {
        let bench = try JobBench(options: JobBench.options(maxStreams: 1))
        await bench.api.hold("GET")
        await bench.api.setStream(event("completed"))
        _ = try await bench.order()
        await bench.api.waitForRequests(2)
        await bench.tracker.enterBackground()
        #expect(await bench.tracker.streaming.isEmpty)
        await bench.api.release()
        await bench.tracker.enterForeground()
        await bench.api.waitForRequests(3)
        #expect(await bench.triggers().last == "launch")
    }
}
