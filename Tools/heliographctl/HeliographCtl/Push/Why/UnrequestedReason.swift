internal import CommandLineSupport
internal import FoundationEssentials
internal import Push

/// The reason why something has no notification that could look for phones; it follows from its row, and is not stored.
enum UnrequestedReason: String, CaseIterable {
    case scheduled, cancelled
    case jobDeleted = "job_deleted"
    case noOtherMember = "no_other_member"

    var explanation: PushReason {
        switch self {
        case .scheduled:
            PushReason(
                "its app has asked for a later time",
                remedy: "It is sent by itself; `heliographctl notifications cancel <id>` ends it.")
        case .cancelled: PushReason("it was cancelled before it was due, by its app or by an operator", remedy: PushReason.nothingToDo)
        case .jobDeleted: PushReason("its user deleted it before it had ended", remedy: PushReason.nothingToDo)
        case .noOtherMember:
            PushReason(
                "no other member of the conversation is known from that time, and one who is alone causes no push",
                remedy: "Nothing is to be done, unless the owner has removed a member since, which is not kept: then look for it with "
                    + "`heliographctl dlq list notification.requested`.")
        }
    }
}

extension PushFinding {
    /// Describes a subject that has no notification for a known reason.
    ///
    /// - Parameter what: The subject of the sentence with its verb, such as "The picture has no push".
    init(_ reason: UnrequestedReason, _ what: String, more: String = "") {
        let explanation = reason.explanation
        self.init("\(what), because \(explanation.cause)\(more).", remedy: explanation.remedy, code: reason.rawValue)
    }

    /// Describes a message whose notification does not exist.
    init(unpushed message: PushedMessage) {
        guard !message.hadOthers else {
            self = .missing("message in \(message.conversation)", since: message.createdAt)
            return
        }
        let left = message.lastLeftAt.map { "; the last one left, or declined an invitation, at \($0.formatted(.iso8601))" } ?? ""
        let posted = message.createdAt.formatted(.iso8601)
        self.init(.noOtherMember, "The message in \(message.conversation) of \(posted) has no push", more: left)
    }

    /// Describes a notification of an app's own server that token-registry has no row of.
    init(_ notification: AppNotification, now: Date = Date()) {
        let due = notification.notBefore.formatted(.iso8601)
        switch notification.state {
        case .scheduled where notification.notBefore > now: self.init(.scheduled, "It waits until \(due)")
        case .scheduled:
            self.init("It was due at \(due), and is not published yet.", remedy: "identity-api does that each second: look at its log.")
        case .cancelled: self.init(.cancelled, "It was not sent")
        case .requested where notification.hasNoRecipient: self.init(skipped: SkipReason.noRecipient.rawValue)
        case .requested: self = .missing("request", since: max(notification.createdAt, notification.notBefore))
        }
    }

    /// The answer for a subject whose push comes later.
    static func pending(_ what: String, until deadline: Date, worker: String) -> PushFinding {
        PushFinding(
            "\(what) yet, and its push is requested when it is; it has time until \(deadline.formatted(.iso8601)).",
            remedy: "If it waits too long, look at \(worker) with `heliographctl streams`.")
    }

    /// The answer for a subject that has ended without a notification.
    static func missing(_ what: String, since ended: Date?) -> PushFinding {
        PushFinding(
            "The \(what) of \(ended?.formatted(.iso8601) ?? "an unknown time") has no notification.",
            remedy: "After 30 days it is deleted. Sooner: `heliographctl streams` shows whether notification.requested waits, and "
                + "`heliographctl dlq list notification.requested` whether it was given up.")
    }
}
