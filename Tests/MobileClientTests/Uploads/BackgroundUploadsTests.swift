import Foundation
import Testing

@testable import MobileClient

/// ``BackgroundUploads`` over a real store and a simulated session.
@Suite struct BackgroundUploadsTests {
    private let phone: UploadPhone

    init() throws { phone = try UploadPhone() }

    @Test func `an accepted order gives its job, and leaves no file`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        await uploads.acknowledge(order.id)
        #expect(phone.files == ["uploads/tasks/\(order.id.uuidString.lowercased()).json"])
        phone.time.advance(by: .seconds(86_401))
        try await uploads.sweep()
        #expect(phone.files.isEmpty && phone.system.faults.isEmpty)
    }

    @Test func `a request has the key, the boundary and the bearer, and the record has no bearer`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        let number = try await phone.waitForTasks()[0]
        let task = try #require(phone.system.tasks[number])
        let headers = task.upload.request.headers
        #expect(headers["x-request-id"] == order.id.uuidString.lowercased() && task.upload.description == headers["x-request-id"])
        #expect(headers["content-type"] == "multipart/form-data; boundary=b")
        #expect(headers["authorization"] == "Bearer old" && task.upload.request.url.absoluteString.hasSuffix("/v1/images/process"))
        #expect(task.upload.file != order.file && task.upload.notBefore == nil)
        for file in phone.files where file.hasSuffix(".json") {
            let text = try String(contentsOf: phone.folder.url.appending(path: file), encoding: .utf8)
            #expect(!text.contains("old") && !text.contains("Bearer"))
        }
    }

    @Test func `a refused order ends with the error of the API`() async throws {
        phone.system.refuse(
            .json(
                #"{"success":false,"code":1010,"message":"no","error":{"code":"template_not_found","field":"template_id"}}"#, status: 400))
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .templateNotFound && error?.status == 400 && error?.field == "template_id")
        #expect(phone.files.count == 1)
    }

    @Test func `a bearer that has expired is replaced`() async throws {
        phone.system.setBearers(["new"])
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.system.posts.map(\.bearer) == ["old", "new"])
    }

    @Test func `an order ends when a new bearer is refused too`() async throws {
        phone.system.setBearers([])
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        phone.system.finish(try await phone.waitForTasks()[0])
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .unauthorized && phone.system.posts.count == 2)
    }

    @Test func `an order without a bearer waits for the app to be opened`() async throws {
        phone.bearers.withLock { $0 = [] }
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        await until { await uploads.runner.state.uploads[order.id]?.phase == .parked }
        #expect(phone.system.liveTasks.isEmpty)
        phone.bearers.withLock { $0 = ["old"] }
        await uploads.enterForeground()
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
    }

    @Test func `an order without a bearer asks again after a minute`() async throws {
        phone.bearers.withLock { $0 = [] }
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        await phone.time.waitForSleepers()
        phone.bearers.withLock { $0 = ["old"] }
        phone.time.advance(by: .seconds(60))
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(try await uploads.outcome(of: order.id) == "job-0")
    }

    @Test func `an order is not uploaded with the bearer of another account`() async throws {
        phone.owner.withLock { $0 = "other" }
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .signedOut && phone.system.posts.isEmpty && phone.files.count == 1)
    }

    @Test func `an upload that fails is repeated later with the same key`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        let first = try await phone.waitForTasks()[0]
        phone.system.post(first)
        phone.system.fail(first, .connectionLost)
        let second = try await phone.waitForTasks()[0]
        #expect(phone.system.tasks[second]?.upload.notBefore == phone.time.now + 2)
        phone.system.finish(second)
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.system.jobs == ["job-0"] && Set(phone.system.posts.map(\.key)).count == 1)
    }

    @Test func `the time that the API asks for is kept`() async throws {
        phone.system.refuse(
            TransportResponse(
                status: 503, headers: ["Retry-After": "90"],
                body: Data(#"{"message":"full","error":{"code":"overloaded","retryable":true}}"#.utf8)))
        let uploads = try phone.launch()
        try await uploads.enqueue(try phone.order())
        let first = try await phone.waitForTasks()[0]
        phone.system.finish(first)
        await until { ![[], [first]].contains(phone.system.liveTasks) }
        #expect(phone.system.tasks[try await phone.waitForTasks()[0]]?.upload.notBefore == phone.time.now + 90)
    }

    @Test func `an order that is 24 hours old expires`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        _ = try await phone.waitForTasks()
        phone.time.advance(by: .seconds(86_400))
        try await uploads.sweep()
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .timedOut && phone.system.liveTasks.isEmpty && phone.files.count == 1)
    }

    @Test func `a sign-out ends all orders before it returns`() async throws {
        let uploads = try phone.launch()
        let orders = try (0..<3).map { try phone.order(UUID(), "picture \($0)") }
        for order in orders { try await uploads.enqueue(order) }
        _ = try await phone.waitForTasks(3)
        try await uploads.signedOut()
        #expect(phone.system.liveTasks.isEmpty && phone.files.count == 3)
        for order in orders {
            let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
            #expect(error?.code == .signedOut)
        }
    }

    @Test func `a cancelled order ends, and its task with it`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        try await uploads.enqueue(order)
        _ = try await phone.waitForTasks()
        try await uploads.cancel(order.id)
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: order.id) }
        #expect(error?.code == .cancelled && phone.system.liveTasks.isEmpty)
    }

    @Test func `the same order twice is one upload`() async throws {
        let uploads = try phone.launch()
        let order = try phone.order()
        async let first: Void = uploads.enqueue(order)
        async let second: Void = uploads.enqueue(order)
        _ = try await (first, second)
        phone.system.finish(try await phone.waitForTasks()[0])
        async let one = uploads.outcome(of: order.id)
        async let two = uploads.outcome(of: order.id)
        #expect(try await [one, two] == ["job-0", "job-0"])
        await uploads.acknowledge(order.id)
        try await uploads.enqueue(order)
        #expect(try await uploads.outcome(of: order.id) == "job-0")
        #expect(phone.system.posts.count == 1 && phone.files.count == 1)
    }

    @Test func `a wait for an unknown order fails, and one that is cancelled ends`() async throws {
        let uploads = try phone.launch()
        let error = await #expect(throws: HeliographError.self) { try await uploads.outcome(of: UUID()) }
        #expect(error?.code == .invalidArgument)
        let order = try phone.order()
        try await uploads.enqueue(order)
        let wait = Task { try await uploads.outcome(of: order.id) }
        _ = try await phone.waitForTasks()
        wait.cancel()
        let cancelled = await #expect(throws: HeliographError.self) { try await wait.value }
        #expect(cancelled?.code == .cancelled)
    }

    @Test func `a file that cannot be kept is an error, and leaves nothing`() async throws {
        let uploads = try phone.launch()
        var order = try phone.order()
        order.file = phone.folder.url.appending(path: "missing")
        let error = await #expect(throws: HeliographError.self) { try await uploads.enqueue(order) }
        #expect(error?.code == .storage && phone.files.isEmpty)
    }
}
