public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A report by a user about another user, a topic or a message: a row of `reports`.
public struct AbuseReport: Sendable, Equatable {
    /// The subject of a report. Its existence is not checked, so that a response does not disclose it.
    public enum Subject: Sendable, Hashable {
        case user(UUID)
        case topic(TopicName)
        case message(String, in: TopicName)

        var type: String {
            switch self {
            case .user: "user"
            case .topic: "topic"
            case .message: "message"
            }
        }

        var id: String {
            switch self {
            case .user(let id): id.wireString
            case .topic(let name): name.text
            case .message(let id, let name): "\(name.text)/\(id)"
            }
        }
    }

    /// Why.
    public enum Reason: String, Sendable, CaseIterable {
        case spam, harassment, impersonation, violence
        case sexualContent = "sexual_content"
        case selfHarm = "self_harm"
        case other
    }

    /// The state; `closed` is final.
    public enum State: String, Sendable, CaseIterable {
        case open, closed
    }

    /// The id.
    public let id: UUID
    /// Who reported it; nil when the account is gone.
    public let reporterID: UUID?
    /// `user`, `topic` or `message`.
    public let subjectType: String
    /// A user's id, a topic's name, or a topic's name, a slash and a message's id.
    public let subjectID: String
    /// The sender of the message, when it was known.
    public let senderID: UUID?
    /// Why.
    public let reason: Reason
    /// What the reporter wrote, sealed with `SealingContext.report`.
    public let textSealed: [UInt8]?
    /// The state.
    public let state: State
    /// When it was made.
    public let createdAt: Date
    /// When an operator closed it.
    public let closedAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        reporterID = try row.decode("reporter_id")
        subjectType = try row.decode("subject_type")
        subjectID = try row.decode("subject_id")
        senderID = try row.decode("sender_id")
        reason = try row.decodeCase("reason")
        textSealed = try row.decode("text_sealed")
        state = try row.decodeCase("state")
        createdAt = try row.decode("created_at")
        closedAt = try row.decode("closed_at")
    }
}

/// A report to store.
public struct NewAbuseReport: Sendable {
    /// The id, to which the text is bound.
    public var id: UUID
    /// Who reports.
    public var reporterID: UUID
    /// What is reported.
    public var subject: AbuseReport.Subject
    /// Why.
    public var reason: AbuseReport.Reason
    /// What the reporter wrote, sealed with `SealingContext.report`.
    public var textSealed: [UInt8]?

    /// Describes a report.
    public init(
        id: UUID, reporterID: UUID, subject: AbuseReport.Subject, reason: AbuseReport.Reason, textSealed: [UInt8]? = nil
    ) {
        self.id = id
        self.reporterID = reporterID
        self.subject = subject
        self.reason = reason
        self.textSealed = textSealed
    }
}
