internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient
internal import Push
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

    /// The messages, in the order in which they were appended; empty when they are deleted, or the request is unknown.
    let messages: [OutboxRecord]
    let sessions: [Session]
    let imageJobs: [TracedImageJob]
    /// The notifications of apps' own servers, including scheduled and cancelled ones and those without a recipient.
    let appNotifications: [AppNotification]
    let notifications: [NotificationRecord]
    let deliveries: [Delivery]

    /// Whether no row of the request exists.
    var isEmpty: Bool {
        messages.isEmpty && sessions.isEmpty && imageJobs.isEmpty && appNotifications.isEmpty && notifications.isEmpty
    }

    /// Reads the rows of a request, with statements that only read.
    ///
    /// - Parameters:
    ///   - requestID: Its `X-Request-ID`; nil when it is not known.
    ///   - things: Rows that it made, whose messages may be deleted.
    init(requestID: String?, things: [TracedThing], in postgres: PostgresClient) async throws {
        var messages: [OutboxRecord] = []
        if let requestID { messages = try await OutboxRepository(postgres).messages(requestID: requestID) }
        func keys(_ kind: TracedThing.Kind, _ types: EventType...) -> [UUID] {
            let named = messages.map(\.envelope).filter { types.contains($0.type) }.compactMap { UUID(wireString: $0.key) }
            return Array(Set(named + things.filter { $0.kind == kind }.map(\.id)))
        }
        let notificationIDs = Array(Set(messages.compactMap(\.envelope.notificationID) + keys(.notification)))
        let attempts = ImageAttemptRepository(postgres)
        var imageJobs: [TracedImageJob] = []
        for job in try await ImageJobRepository(postgres).findIncludingDeleted(ids: keys(.imageJob, .imageRequested, .imageCompleted)) {
            imageJobs.append(TracedImageJob(job: job, attempts: try await attempts.list(jobID: job.id)))
        }
        self.messages = messages
        self.imageJobs = imageJobs
        sessions = try await SessionRepository(postgres).find(ids: keys(.session, .ekycRequested, .ekycCompleted))
        appNotifications = try await PushInquiryRepository(postgres).appNotifications(ids: keys(.appNotification), requestID: requestID)
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
