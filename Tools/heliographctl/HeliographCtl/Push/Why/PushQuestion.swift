internal import Accounts
internal import FoundationEssentials
internal import Pictures
internal import PostgresClient
internal import Push
internal import WireFormat

/// The subject of an operator's question: a user, or the notifications about a job, session or message.
struct PushQuestion {
    /// The user whose pushes are explained; nil for all recipients.
    var userID: UUID?
    /// The notifications, oldest first.
    var notifications: [NotificationRecord] = []
    /// The notifications of apps' own servers that token-registry has no row of: they wait, were cancelled, or had no recipient.
    var appNotifications: [AppNotification] = []
    /// The answers for subjects without a notification.
    var others: [PushFinding] = []
    /// Whether there are more notifications than these.
    var isCut = false

    /// The newest notifications of a user, and the next scheduled ones.
    static func user(_ id: UUID, since: Date, limit: Int, in db: some PostgresQueryable) async throws -> PushQuestion {
        let inquiry = PushInquiryRepository(db)
        // One more says whether there are more.
        let found = try await inquiry.notifications(about: id, since: since, limit: limit + 1)
        let scheduled = try await inquiry.scheduledNotifications(for: id, limit: limit + 1)
        var question = PushQuestion(
            userID: id, notifications: found.prefix(limit).reversed(), appNotifications: Array(scheduled.prefix(limit)),
            isCut: max(found.count, scheduled.count) > limit)
        if try await PushInstallRepository(db).find(userIDs: [id]).isEmpty {
            let reason = PushReason.of(SkipReason.noInstallation)
            question.others.append(PushFinding("The user has no phone that gets pushes now.", remedy: reason.remedy))
        }
        if found.isEmpty {
            let sentence = "No push was requested since \(since.formatted(.iso8601))."
            question.others.append(PushFinding(sentence, remedy: "Ask with a longer `--since`."))
        }
        return question
    }

    /// The notifications for an id: a notification with it, or the notifications about an image job, a session or messages with it; nil
    /// when no row has the id, and no notification names it.
    static func thing(_ text: String, in db: some PostgresQueryable) async throws -> PushQuestion? {
        let inquiry = PushInquiryRepository(db)
        var question = PushQuestion()
        if let id = UUID(wireString: text.lowercased()) {
            question.notifications = try await NotificationRepository(db).find(ids: [id])
            if question.notifications.isEmpty { question.appNotifications = try await inquiry.appNotifications(ids: [id]) }
            // Jobs and sessions are deleted sooner than the notifications about them.
            question.notifications += try await inquiry.notifications(dedupeKeys: PushInquiryRepository.dedupeKeys(about: id))
            if question.notifications.isEmpty { question.others = try await unpushed(id, in: db) }
        }
        for message in try await inquiry.messages(id: text) {
            let found = try await NotificationRepository(db).find(ids: [message.notificationID])
            question.notifications += found
            if found.isEmpty { question.others.append(PushFinding(unpushed: message)) }
        }
        let isKnown = !question.notifications.isEmpty || !question.appNotifications.isEmpty || !question.others.isEmpty
        return isKnown ? question : nil
    }

    /// The answers for an image job or a session that has no notification.
    private static func unpushed(_ id: UUID, in db: some PostgresQueryable) async throws -> [PushFinding] {
        var findings: [PushFinding] = []
        for job in try await ImageJobRepository(db).findIncludingDeleted(ids: [id]) {
            findings.append(
                job.deletedAt != nil && job.completedAt == nil
                    ? PushFinding(.jobDeleted, "The picture has no push")
                    : job.completedAt == nil
                        ? .pending("The picture is not ended", until: job.deadlineAt, worker: "image-worker")
                        : .missing("picture", since: job.completedAt))
        }
        for session in try await SessionRepository(db).find(ids: [id]) {
            findings.append(
                session.completedAt == nil
                    ? .pending("The session is not decided", until: session.deadlineAt, worker: "face-matching-worker")
                    : .missing("session", since: session.completedAt))
        }
        return findings
    }
}
