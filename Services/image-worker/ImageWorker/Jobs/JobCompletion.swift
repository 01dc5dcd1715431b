internal import EventBus
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient
internal import Push
internal import WireFormat

/// The final outcome of a job.
enum JobCompletion: Sendable {
    case completed(ImageJob.Result)
    case failed(ImageJob.Failure)

    var status: ImageJobStatus {
        switch self {
        case .completed: .completed
        case .failed: .failed
        }
    }

    /// Publishes the event that wakes waiting requests, and the request for one push to the user's phones.
    ///
    /// Call it in the transaction that ends the job.
    /// - Parameter traceparent: The trace of the work that ended it.
    func publish(_ job: ImageJob, traceparent: String?, in transaction: PostgresTransaction) async throws {
        let outbox = OutboxRepository(transaction)
        try await outbox.publish(
            ImageCompleted(jobID: job.id, status: status), requestID: job.requestID, traceparent: traceparent,
            expiresAt: job.expiresAt)
        let notification = notification(about: job)
        try await outbox.publish(
            notification, requestID: job.requestID, traceparent: traceparent, expiresAt: notification.expiresAt)
    }

    /// Returns the push request; it expires with the job, when there is nothing left to fetch.
    private func notification(about job: ImageJob) -> NotificationRequested {
        switch self {
        case .completed(let result):
            JobCompletedPush(jobID: job.id, templateName: job.templateName, thumbnailKey: result.thumbnailKey)
                .request(to: job.userID, expiresAt: job.expiresAt)
        case .failed(let failure):
            JobFailedPush(jobID: job.id, reason: failure.message).request(to: job.userID, expiresAt: job.expiresAt)
        }
    }
}
