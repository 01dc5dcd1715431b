internal import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads the trace of a request, for operators. It is read-only, and takes milliseconds by the index on the request id.
public struct MessageTraceRepository: Sendable {
    /// The most messages of one trace.
    public static let messagesMax = 1000

    private let db: any PostgresQueryable

    /// Works on a client.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the trace of a request; empty when it is unknown, or so old that its messages are deleted.
    public func trace(requestID: String) async throws(PostgresError) -> MessageTrace {
        let query: PostgresQuery = """
            SELECT o.*, handled.names, handled.times
            FROM outbox o CROSS JOIN LATERAL (
                SELECT coalesce(array_agg(name ORDER BY name), '{}') AS names,
                       coalesce(array_agg(i.handled_at ORDER BY name), '{}') AS times
                FROM unnest(o.consumer_groups) AS name
                LEFT JOIN inbox i ON i.consumer_group = name AND i.message_id = o.message_id) AS handled
            WHERE o.request_id = \(requestID) ORDER BY o.id LIMIT \(Self.messagesMax)
            """
        var messages: [MessageTrace.Message] = []
        var sessionIDs: Set<UUID> = []
        var imageJobIDs: Set<UUID> = []
        var notificationIDs: Set<UUID> = []
        for row in try await db.query(query.readOnly()) {
            let message = try MessageTrace.Message(row: row)
            messages.append(message)
            let envelope = try EncodedEnvelope(row: row)
            if let id = envelope.notificationID { notificationIDs.insert(id) }
            if [.ekycRequested, .ekycCompleted].contains(message.type), let id = UUID(uuidString: message.key) {
                sessionIDs.insert(id)
            }
            if [.imageRequested, .imageCompleted].contains(message.type), let id = UUID(uuidString: message.key) {
                imageJobIDs.insert(id)
            }
        }
        let deliveries: PostgresQuery = """
            SELECT * FROM delivery_ledger WHERE notification_id = ANY(\(Array(notificationIDs))) ORDER BY created_at, id
            """
        return MessageTrace(
            messages: messages, sessions: try await SessionRepository(db).find(ids: Array(sessionIDs)),
            imageJobs: try await imageJobs(ids: Array(imageJobIDs)),
            notifications: try await NotificationRepository(db).find(ids: Array(notificationIDs)),
            deliveries: try await db.query(deliveries.readOnly()).map { row throws(PostgresError) in try Delivery(row: row) })
    }

    /// Returns jobs with their attempts, including deleted and expired jobs.
    private func imageJobs(ids: [UUID]) async throws(PostgresError) -> [MessageTrace.TracedImageJob] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM image_jobs WHERE id = ANY(\(ids)) ORDER BY created_at, id"
        var traced: [MessageTrace.TracedImageJob] = []
        for row in try await db.query(query.readOnly()) {
            let job = try ImageJob(row: row)
            traced.append(.init(job: job, attempts: try await ImageAttemptRepository(db).list(jobID: job.id)))
        }
        return traced
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

extension MessageTrace.Message {
    fileprivate init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("message_id")
        type = EventType(rawValue: try row.decode("type"))
        stream = try row.decode("stream")
        key = try row.decode("key")
        state = try row.decodeCase("state")
        createdAt = try row.decode("created_at")
        publishedAt = try row.decode("published_at")
        publications = Int(try row.decode("publications", as: Int32.self))
        entryID = try row.decode("entry_id")
        settledAt = try row.decode("settled_at")
        let times: [Date?] = try row.decode("times")
        handlings = zip(try row.decode("names", as: [String].self), times).map { Handling(group: $0, handledAt: $1) }
    }
}
