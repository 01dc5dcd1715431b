import Foundation
import Testing

@testable import MobileClient

/// Local notifications of ``BackgroundUploads``.
@Suite struct UploadNotificationTests {
    private let phone: UploadPhone

    init() throws { phone = try UploadPhone() }

    /// An order whose job has the id `job-0`.
    private func upload(_ uploads: BackgroundUploads) async throws {
        let order = try phone.order()
        try await uploads.enqueue(order)
        phone.system.finish(try await phone.waitForTasks()[0])
        _ = try await uploads.outcome(of: order.id)
        await uploads.acknowledge(order.id)
    }

    private func passPushTime() async {
        await phone.time.waitForSleepers()
        phone.time.advance(by: BackgroundUploads.pushTime)
    }

    private func isDecided(_ uploads: BackgroundUploads) async {
        await until { await uploads.runner.state.notices["job-0"] == .decided }
    }

    @Test func `a job that completes in the background is notified once, also after a restart`() async throws {
        for _ in 0..<2 {
            let uploads = try phone.launch()
            if phone.notifier.shown.withLock({ $0.isEmpty }) { try await upload(uploads) } else { try await uploads.start() }
            await uploads.jobCompleted("job-0", templateName: "Anime")
            await passPushTime()
            await isDecided(uploads)
            // The person has removed the notification.
            let shown = phone.notifier.shown.withLock { $0 }
            #expect(shown == [JobNotification(jobID: "job-0", templateName: "Anime")])
            phone.system.endProcess()
        }
    }

    @Test func `a notification that was removed is not shown again after a restart`() async throws {
        let first = try phone.launch()
        try await upload(first)
        await first.jobCompleted("job-0", templateName: nil)
        await passPushTime()
        await isDecided(first)
        #expect(phone.notifier.shown.withLock { $0.count } == 1)
        phone.notifier.shown.withLock { $0 = [] }
        phone.system.endProcess()
        let second = try phone.launch()
        try await second.start()
        await second.jobCompleted("job-0", templateName: nil)
        await passPushTime()
        await isDecided(second)
        #expect(phone.notifier.shown.withLock { $0.isEmpty })
    }

    @Test func `a push in the notification centre is enough`() async throws {
        let uploads = try phone.launch()
        try await upload(uploads)
        phone.notifier.pushes.withLock { $0 = ["job:job-0"] }
        await uploads.jobCompleted("job-0", templateName: "Anime")
        await passPushTime()
        await isDecided(uploads)
        #expect(phone.notifier.shown.withLock { $0.isEmpty })
    }

    @Test func `a push of which the app knew is enough also after a restart`() async throws {
        let first = try phone.launch()
        try await upload(first)
        await first.pushShown("job-0")
        phone.system.endProcess()
        let second = try phone.launch()
        try await second.start()
        await second.jobCompleted("job-0", templateName: nil)
        await passPushTime()
        await isDecided(second)
        #expect(phone.notifier.shown.withLock { $0.isEmpty })
    }

    @Test func `a notification has the texts and the data of the push`() {
        let notification = JobNotification(jobID: "7", templateName: "Anime")
        #expect(JobNotification.title == "Image Ready! 🎨" && notification.body == "Your Anime image has been processed")
        #expect(JobNotification.category == "IMAGE_COMPLETE" && notification.identifier == "job:7")
        #expect(notification.data == ["kind": "job_completed", "type": "job_completed", "jobId": "7", "templateName": "Anime"])
    }
}
