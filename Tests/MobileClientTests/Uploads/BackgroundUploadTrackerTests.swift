import Foundation
import Testing

@testable import MobileClient

/// A ``JobTracker`` that orders by ``BackgroundUploads``, over simulated processes.
@Suite struct BackgroundUploadTrackerTests {
    private let phone: UploadPhone

    init() throws { phone = try UploadPhone() }

    /// Reads of jobs find them completed.
    private let sender = ScriptedSender { sent throws(HeliographError) in
        guard sent.method == "GET" else { throw HeliographError(.unreachable, "not in use") }
        let id = sent.path.split(separator: "/").last ?? ""
        return .json(#"{"success":true,"data":{"job_id":"\#(id)","status":"completed"}}"#)
    }

    private func launch(_ life: ProcessLife = ProcessLife()) throws -> (tracker: JobTracker, uploads: BackgroundUploads) {
        let uploads = try phone.launch(life)
        let store = PendingTaskStore(
            folder: phone.folder.url.appending(path: "jobs"), time: phone.time.source, operations: MortalFiles(life: life))
        let tracker = JobTracker(
            store: store, sender: sender, time: phone.time.source, owner: { "me" }, order: uploads.orders(from: store))
        return (tracker, uploads)
    }

    /// Writes an order down, as ``ImagesClient`` does.
    private func order(_ tracker: JobTracker, _ text: String = "picture") async throws -> UUID {
        let store = await tracker.store
        let file = try await store.newFile(extension: "form")
        try Data(text.utf8).write(to: file)
        let task = try PendingTask(
            kind: .imageJob, createdAt: phone.time.now, encoding: JobRecord(template: "t", boundary: "b", owner: "me"),
            files: [store.path(of: file)])
        try await store.update(task.id) { $0 = task }
        await tracker.begin(task)
        return task.id
    }

    private func outcome(of id: UUID, _ tracker: JobTracker) async -> JobUpdate.Outcome? {
        for await update in tracker.updates(of: id) {
            if let outcome = update.outcome { return outcome }
        }
        return nil
    }

    /// Lets uploads end and waits pass while the body runs, but no 20 hours: an order would expire if time passed faster than this machine
    /// works.
    private func whileTimePasses<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let end = phone.time.now + 20 * 3_600
        let driver = Task { [phone] in
            while !Task.isCancelled {
                phone.system.finishAll()
                phone.time.advanceToNextWait(by: end)
                await Task.yield()
            }
        }
        defer { driver.cancel() }
        return try await body()
    }

    private var forms: [String] { phone.folder.files.filter { $0.contains("/files/") } }

    @Test func `three orders at once go through the session to their ends`() async throws {
        let (tracker, _) = try launch()
        try await tracker.start()
        var ids: [UUID] = []
        for number in 0..<3 { ids.append(try await order(tracker, "picture \(number)")) }
        for task in try await phone.waitForTasks(3) { phone.system.finish(task) }
        // The first read of a job is a poll.
        await whileTimePasses {
            for id in ids {
                let end = await outcome(of: id, tracker)
                guard case .completed = end else {
                    Issue.record("an order is not completed: \(String(describing: end))")
                    continue
                }
            }
        }
        #expect(phone.system.jobs.count == 3 && phone.system.faults.isEmpty && forms.isEmpty)
    }

    @Test func `an order whose process ends while it is uploaded is found again`() async throws {
        let life = ProcessLife()
        let first = try launch(life)
        try await first.tracker.start()
        let id = try await order(first.tracker)
        let task = try await phone.waitForTasks()[0]
        life.end()
        phone.system.endProcess()
        phone.system.finish(task)
        let second = try launch()
        try await second.tracker.start()
        guard case .completed = await outcome(of: id, second.tracker) else {
            Issue.record("the order is not completed")
            return
        }
        #expect(phone.system.posts.count == 1 && forms.isEmpty)
    }

    @Test func `a refused order ends as refused`() async throws {
        phone.system.refuse(.json(#"{"success":false,"code":1,"message":"no","error":{"code":"invalid_image"}}"#, status: 400))
        let (tracker, _) = try launch()
        try await tracker.start()
        let id = try await order(tracker)
        phone.system.finish(try await phone.waitForTasks()[0])
        #expect(await outcome(of: id, tracker) == .refused(.init(code: "invalid_image", message: "no")))
        #expect(forms.isEmpty)
    }

    @Test func `an order that the API had no time for is ordered again by the tracker`() async throws {
        phone.system.setBearers([])
        let (tracker, _) = try launch()
        try await tracker.start()
        let id = try await order(tracker)
        for _ in 0..<2 { phone.system.finish(try await phone.waitForTasks()[0]) }
        // Both bearers were refused: the tracker waits, and orders again when the person has signed in again.
        phone.system.setBearers(["new"])
        let end = await whileTimePasses { await outcome(of: id, tracker) }
        guard case .completed = end else {
            Issue.record("the order is not completed: \(String(describing: end))")
            return
        }
        #expect(phone.system.jobs == ["job-0"] && phone.system.faults.isEmpty)
    }
}
