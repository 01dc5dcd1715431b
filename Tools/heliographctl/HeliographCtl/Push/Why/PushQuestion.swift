internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// What an operator asks about, as the rows that it names: a user, or the notifications of something.
struct PushQuestion {
    /// The user whose pushes are explained; nil for all recipients.
    var userID: UUID?
    /// The notifications, oldest first.
    var notifications: [NotificationRecord] = []
    /// The answers for what has no notification.
    var others: [PushFinding] = []

    /// The newest notifications of a user.
    static func user(_ id: UUID, since: Date, limit: Int, in db: some PostgresQueryable) async throws -> PushQuestion {
        let notifications = try await PushInquiryRepository(db).notifications(about: id, since: since, limit: limit)
        var question = PushQuestion(userID: id, notifications: notifications.reversed())
        if try await PushInstallRepository(db).find(userIDs: [id]).isEmpty {
            let reason = PushReason.of(SkipReason.noInstallation)
            question.others.append(PushFinding("The user has no phone that gets pushes now.", remedy: reason.remedy))
        }
        if notifications.isEmpty {
            let sentence = "No push was requested since \(since.formatted(.iso8601))."
            question.others.append(PushFinding(sentence, remedy: "Ask with a longer `--since`."))
        }
        return question
    }

    /// The notifications of what has this id: a notification, an image job, a session, or messages with it; nil when nothing has it.
    static func thing(_ text: String, in db: some PostgresQueryable) async throws -> PushQuestion? {
        let inquiry = PushInquiryRepository(db)
        var question = PushQuestion()
        var isKnown = false
        if let id = UUID(wireString: text.lowercased()) {
            question.notifications = try await NotificationRepository(db).find(ids: [id])
            isKnown = !question.notifications.isEmpty
            for job in try await ImageJobRepository(db).findIncludingDeleted(ids: [id]) {
                isKnown = true
                question.add(
                    try await inquiry.notifications(dedupeKeys: [ImageJob.notificationKey(of: id)]),
                    else: job.completedAt == nil
                        ? .pending("The picture is not ended", until: job.deadlineAt, worker: "image-worker")
                        : .missing("picture", since: job.completedAt))
            }
            for session in try await SessionRepository(db).find(ids: [id]) {
                isKnown = true
                question.add(
                    try await inquiry.notifications(dedupeKeys: [Session.notificationKey(of: id)]),
                    else: session.completedAt == nil
                        ? .pending("The session is not decided", until: session.deadlineAt, worker: "face-matching-worker")
                        : .missing("session", since: session.completedAt))
            }
        }
        for message in try await inquiry.messages(id: text) {
            isKnown = true
            question.add(
                try await NotificationRepository(db).find(ids: [message.notificationID]),
                else: .missing("message in \(message.conversation)", since: message.createdAt))
        }
        return isKnown ? question : nil
    }

    private mutating func add(_ found: [NotificationRecord], else finding: PushFinding) {
        if found.isEmpty { others.append(finding) } else { notifications += found }
    }
}

extension PushFinding {
    /// The answer for what ends in a push later.
    fileprivate static func pending(_ what: String, until deadline: Date, worker: String) -> PushFinding {
        PushFinding(
            "\(what) yet, and its push is requested when it is; it has time until \(deadline.formatted(.iso8601)).",
            remedy: "If it waits too long, look at \(worker) with `heliographctl streams`.")
    }

    /// The answer for what has ended without a notification.
    fileprivate static func missing(_ what: String, since ended: Date?) -> PushFinding {
        PushFinding(
            "The \(what) of \(ended?.formatted(.iso8601) ?? "an unknown time") has no notification.",
            remedy: "After 30 days it is deleted. Sooner: `heliographctl streams` shows whether notification.requested waits, and "
                + "`heliographctl dlq list notification.requested` whether it was given up.")
    }
}
