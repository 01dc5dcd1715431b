import Foundation
import Testing

@testable import MobileClient

/// Processes that end and begin again around ``BackgroundUploads``.
@Suite struct BackgroundUploadLaunchTests {
    private let phone: UploadPhone

    init() throws { phone = try UploadPhone() }

    /// A process that has made the task of an order, and ended.
    private func begin(_ order: UploadOrder) async throws -> Int {
        let life = ProcessLife()
        let uploads = try phone.launch(life)
        try await uploads.enqueue(order)
        let task = try await phone.waitForTasks()[0]
        life.end()
        phone.system.endProcess()
        return task
    }

    @Test func `an upload that ended without the app is taken up by a wake-up`() async throws {
        let order = try phone.order()
        phone.system.finish(try await begin(order))
        let uploads = try phone.launch()
        let handler = HandlerCounter()
        #expect(await uploads.handleEvents(identifier: "com.example.uploads", completion: handler.completion))
        phone.system.finishEvents()
        await phone.tracker.follow(order, uploads)
        await handler.wait()
        #expect(handler.count == 1)
        #expect(phone.tracker.outcomes == [order.id: "job-0"] && phone.system.faults.isEmpty && phone.files.count == 1)
    }

    @Test func `the completion handler waits for the acknowledgement, and 25 seconds at most`() async throws {
        let order = try phone.order()
        phone.system.finish(try await begin(order))
        let uploads = try phone.launch()
        let handler = HandlerCounter()
        #expect(await uploads.handleEvents(identifier: "com.example.uploads", completion: handler.completion))
        phone.system.finishEvents()
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        await uploads.enterBackground()
        #expect(handler.count == 0)
        await phone.time.waitForSleepers()
        phone.time.advance(by: .seconds(25))
        await handler.wait()
        await uploads.acknowledge(order.id)
        phone.system.finishEvents()
        await uploads.enterBackground()
        #expect(handler.count == 1)
    }

    @Test func `a wake-up of another session is not taken`() async throws {
        let uploads = try phone.launch()
        let handler = HandlerCounter()
        #expect(await !uploads.handleEvents(identifier: "com.example.other", completion: handler.completion))
        #expect(handler.count == 0)
    }

    @Test func `a wake-up whose records cannot be read calls its handler once`() async throws {
        let uploads = try phone.launch(ProcessLife(endsAt: 1))
        let handler = HandlerCounter()
        #expect(await uploads.handleEvents(identifier: "com.example.uploads", completion: handler.completion))
        #expect(handler.count == 1)
    }

    @Test func `an upload that the user has ended with the app begins again with the same key`() async throws {
        let order = try phone.order()
        _ = try await begin(order)
        phone.system.forceQuit()
        let uploads = try phone.launch()
        try await uploads.start()
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.system.posts.map(\.key) == [order.id.uuidString.lowercased()])
    }

    @Test func `a task that still works is left to itself`() async throws {
        let order = try phone.order()
        let task = try await begin(order)
        let uploads = try phone.launch()
        try await uploads.start()
        #expect(phone.system.liveTasks == [task])
        phone.system.finish(task)
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.system.posts.count == 1)
    }

    @Test func `a task without a record is ended`() async throws {
        let order = try phone.order()
        _ = try await begin(order)
        for file in phone.files { try FileManager.default.removeItem(at: phone.folder.url.appending(path: file)) }
        let uploads = try phone.launch()
        try await uploads.start()
        #expect(phone.system.liveTasks.isEmpty)
    }

    @Test func `the app gets an outcome again until it acknowledges it`() async throws {
        let order = try phone.order()
        let life = ProcessLife()
        let first = try phone.launch(life)
        try await first.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await first.outcome(of: order.id) == "job-0")
        life.end()
        phone.system.endProcess()
        let second = try phone.launch()
        #expect(try await second.outcome(of: order.id) == "job-0")
        await second.acknowledge(order.id)
        let third = try phone.launch()
        await #expect(throws: HeliographError.self) { try await third.outcome(of: order.id) }
        #expect(phone.system.posts.count == 1)
    }

    @Test func `an order that expired while the app was away ends at its launch`() async throws {
        let order = try phone.order()
        _ = try await begin(order)
        phone.time.advance(by: .seconds(90_000))
        let uploads = try phone.launch()
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .timedOut && phone.system.liveTasks.isEmpty)
        await uploads.acknowledge(order.id)
        try await uploads.sweep()
        #expect(phone.files.count == 1)
    }
}
