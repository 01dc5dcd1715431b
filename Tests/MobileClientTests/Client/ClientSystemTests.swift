import Foundation
import Testing

@testable import MobileClient

/// What the system tells a client: launches, pushes, and the end of uploads in the background.
@Suite(.timeLimit(.minutes(5))) struct ClientSystemTests {
    private let bench: ClientBench

    init() throws { bench = try ClientBench() }

    /// A process with an order that the API has accepted, whose picture is not ready.
    private func order(_ process: ClientProcess? = nil) async throws -> HeliographClient {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await bench.launch(as: "ada", process)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { (try? await client.images.pending().first?.jobID) == "job-0" })
        return client
    }

    @Test func `a push ends an order before its poll`() async throws {
        let client = try await order()
        let ends = bench.ends(of: client)
        bench.api.completeJobs()
        await client.push.received(PushSamples.jobCompleted("job-0"), in: .background)
        // No time passes: a poll cannot end it.
        await until { ends.withLock { !$0.isEmpty } }
        #expect(ends.withLock { $0.map(\.jobID) == ["job-0"] })
    }

    @Test(arguments: [false, true])
    func `a picture that is ready in the background is shown once, by its push or by the phone`(isPushShown: Bool) async throws {
        let process = ClientProcess(bench)
        let client = try await order(process)
        await client.enterBackground()
        bench.api.completeJobs()
        let silent = PushSamples.push(["kind": "job_completed", "jobId": "job-0"], title: nil)
        await client.push.received(isPushShown ? PushSamples.jobCompleted("job-0") : silent, in: .background)
        let shown = isPushShown ? [] : [JobNotification(jobID: "job-0", templateName: "Oil Painting")]
        if !isPushShown { await bench.eventually { bench.notifier.shown.withLock { !$0.isEmpty } } }
        bench.time.advance(by: .seconds(60))
        await bench.settle()
        #expect(bench.notifier.shown.withLock { $0 } == shown)
        // The app has not seen the end, and gets it again; the person has seen it.
        process.end()
        let next = try await bench.launch()
        #expect(try await next.images.pending().count == 1)
        await bench.settle()
        bench.time.advance(by: .seconds(60))
        await bench.settle()
        #expect(bench.notifier.shown.withLock { $0 } == shown)
    }

    @Test func `the handler of a background session is called once, when the outcome is written down`() async throws {
        let system = SimulatedUploadSystem()
        let (process, life) = (ClientProcess(bench), ProcessLife())
        let client = try bench.client(process, uploads: SimulatedSession(system: system, life: life))
        try await client.start()
        let tokens = bench.api.signIn("ada", at: bench.time.now)
        system.setBearers([tokens.accessToken])
        try await client.parts.signIn(tokens)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { system.liveTasks.count == 1 })
        life.end()
        process.end()
        system.endProcess()
        system.finishAll()
        // iOS launches the app for this call, and waits for the handler.
        let (second, secondLife) = (ClientProcess(bench), ProcessLife())
        let next = try bench.client(second, uploads: SimulatedSession(system: system, life: secondLife))
        let (handler, other) = (HandlerCounter(), HandlerCounter())
        #expect(await next.handleBackgroundEvents(identifier: "com.example.uploads", completion: handler.completion))
        #expect(await next.handleBackgroundEvents(identifier: "another", completion: other.completion) == false)
        system.finishEvents()
        await handler.wait()
        // The system may end the process now: another one has the outcome from the device, and uploads nothing.
        secondLife.end()
        second.end()
        system.endProcess()
        let last = try bench.client(uploads: SimulatedSession(system: system))
        try await last.start()
        try await until { try await last.images.pending().map(\.jobID) == ["job-0"] }
        #expect(system.posts.count == 1)
        #expect(system.liveTasks.isEmpty)
        bench.time.advance(by: .seconds(60))
        await bench.settle()
        #expect(handler.count == 1 && other.count == 0 && system.faults.isEmpty)
    }

    @Test func `a part that cannot start keeps no other from starting`() async throws {
        let process = ClientProcess(bench)
        let former = try await bench.launch(as: "ada", process)
        bench.isOffline.withLock { $0 = true }
        _ = try await former.images.process(ClientBench.picture, template: "oil")
        _ = try await former.ekyc.signUp(EKYCPhone.poses)
        await bench.settle()
        process.end()
        bench.isOffline.withLock { $0 = false }
        let uploads = bench.folder.url.appending(path: "uploads")
        try FileManager.default.removeItem(at: uploads)
        try Data().write(to: uploads)
        let client = try bench.client()
        let error = await #expect(throws: HeliographError.self) { try await client.start() }
        #expect(error?.code == .storage)
        // The session goes on, the push token is registered, and the order waits.
        await client.pushTokenChanged("another-phone")
        #expect(await bench.eventually { bench.api.count("POST /api/v1/ekyc/upload-photos") > 0 })
        #expect(await bench.eventually { bench.api.installations["another-phone"] == "ada" })
        #expect(try await client.images.pending().count == 1)
        try FileManager.default.removeItem(at: uploads)
        try await client.start()
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
    }

    @Test(arguments: [false, true]) func `what is read sets the number on the icon, unless a newer push has`(isEvent: Bool) async throws {
        let client = try await bench.launch(as: "ada")
        bench.api.contents.withLock { $0.badge = 2 }
        func read() async throws { _ = isEvent ? try await client.events.markSeen("e") : try await client.chat.markRead("c") }
        try await read()
        #expect(await bench.eventually { bench.badges.withLock { $0.last } == 2 })
        // FCM took the push ten seconds after the API had given its answer.
        await client.push.received(PushSamples.jobCompleted(badge: 7, messageID: "0:1800000010000000%a"), in: .background)
        try await read()
        #expect(client.push.badge.count == 7)
    }
}
