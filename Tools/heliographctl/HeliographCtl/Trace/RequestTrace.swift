internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// All rows of one HTTP request: its messages, and the resources, notifications and deliveries that they are about.
struct RequestTrace {
    /// An image job and its generator calls.
    struct TracedImageJob {
        /// The job, even if its user has deleted it.
        let job: ImageJob
        /// The generator calls, oldest first.
        let attempts: [ImageAttempt]
    }

    /// The messages, in the order in which they were appended; none when the request is unknown.
    let messages: [OutboxRecord]
    let sessions: [Session]
    let imageJobs: [TracedImageJob]
    let notifications: [NotificationRecord]
    let deliveries: [Delivery]

    /// Reads the rows of a request, with statements that only read.
    init(requestID: String, in postgres: PostgresClient) async throws {
        let messages = try await OutboxRepository(postgres).messages(requestID: requestID)
        func keys(_ types: EventType...) -> [UUID] {
            Array(Set(messages.map(\.envelope).filter { types.contains($0.type) }.compactMap { UUID(wireString: $0.key) }))
        }
        let notificationIDs = Array(Set(messages.compactMap(\.envelope.notificationID)))
        let attempts = ImageAttemptRepository(postgres)
        var imageJobs: [TracedImageJob] = []
        for job in try await ImageJobRepository(postgres).findIncludingDeleted(ids: keys(.imageRequested, .imageCompleted)) {
            imageJobs.append(TracedImageJob(job: job, attempts: try await attempts.list(jobID: job.id)))
        }
        self.messages = messages
        self.imageJobs = imageJobs
        sessions = try await SessionRepository(postgres).find(ids: keys(.ekycRequested, .ekycCompleted))
        notifications = try await NotificationRepository(postgres).find(ids: notificationIDs)
        deliveries = try await DeliveryRepository(postgres).find(notificationIDs: notificationIDs)
    }
}

extension EncodedEnvelope {
    /// The notification of a `notification.requested`, `notification.addressed` or `notification.settled` event; nil for others.
    fileprivate var notificationID: UUID? {
        switch type {
        case .notificationRequested: try? decode(NotificationRequested.self).body.notificationID
        case .notificationAddressed: try? decode(NotificationAddressed.self).body.notificationID
        case .notificationSettled: try? decode(NotificationSettled.self).body.notificationID
        default: nil
        }
    }
}
