import Testing

@testable import Mail

@Suite struct QueueTests {
    @Test func `mails that no thread could be started for leave the queue`() async {
        let queue = SMTPQueue(maxThreads: 1, maxJobs: 1)
        for _ in 0..<2 {
            let job = SMTPJob(recipient: "a@b", body: [], deadline: .now + .seconds(60))
            queue.add(job) { false }
            let error = await #expect(throws: MailError.self) { try await job.result().get() }
            #expect(error?.message == "the system gives no more threads")
        }
    }
}
