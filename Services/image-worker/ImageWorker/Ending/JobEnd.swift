internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// The end of a job.
enum JobEnd: Sendable {
    case completed(ImageJob.Result)
    case failed(ImageJob.Failure)

    var status: ImageJobStatus {
        switch self {
        case .completed: .completed
        case .failed: .failed
        }
    }

    /// Publishes what follows from the end: whoever waits is woken, and the user's phones get one push.
    ///
    /// Belongs in the transaction that ends the job.
    /// - Parameter traceparent: The work that ended it.
    func publish(_ job: ImageJob, traceparent: String?, in transaction: PostgresTransaction) async throws {
        let outbox = OutboxRepository(transaction)
        try await outbox.publish(
            ImageCompleted(jobID: job.id, status: status), requestID: job.requestID, traceparent: traceparent,
            expiresAt: job.expiresAt)
        let notification = notification(about: job)
        try await outbox.publish(
            notification, requestID: job.requestID, traceparent: traceparent, expiresAt: notification.expiresAt)
    }

    /// The push: worth sending for as long as there is something to fetch.
    private func notification(about job: ImageJob) -> NotificationRequested {
        let id = job.id.uuidString.lowercased()
        var parameters = ["job_id": id]
        switch self {
        case .completed(let result):
            parameters["template_name"] = job.templateName
            // The key; notifier makes a link of it when it sends, so that no capability travels in events.
            parameters["image"] = result.thumbnailKey
        case .failed(let failure):
            parameters["reason"] = failure.message
        }
        return NotificationRequested(
            dedupeKey: "job:\(id)", kind: status == .completed ? .jobCompleted : .jobFailed, recipient: .user(job.userID),
            lane: .urgent, parameters: parameters, expiresAt: job.expiresAt)
    }
}
