internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import WireFormat

/// The answer to a ``PushQuestion``: for each notification its outcome, as text or JSON.
struct PushExplanation: Report {
    private struct Part {
        let id: UUID
        let kind: String
        let state: String
        let requestedAt: Date
        /// The app whose server requested it; nil for other notifications, and once it is due.
        var app: String?
        /// Its recipient; nil where the recipient is sealed.
        var recipient: NotificationRecipient?
        let findings: [PushFinding]
    }

    private let parts: [Part]
    private let others: [PushFinding]
    private let isCut: Bool

    /// Reads the answer, with statements that only read.
    init(_ question: PushQuestion, in db: some PostgresQueryable) async throws {
        let inquiry = PushInquiryRepository(db)
        let ids = question.notifications.map(\.id)
        var installs: [UUID]?
        if let userID = question.userID { installs = try await inquiry.installIDs(of: userID) }
        let outcomes = Dictionary(grouping: try await inquiry.outcomes(of: ids, to: installs), by: \.notificationID)
        let receipts = try await inquiry.receipts(of: ids, from: question.userID)
        var parts: [Part] = []
        for notification in question.notifications {
            var findings = (outcomes[notification.id] ?? []).map { PushFinding($0, receipts: receipts[notification.id] ?? [:]) }
            findings += PushFinding(notification).map { [$0] } ?? []
            findings += try await Self.members(of: notification, question.userID, inquiry)
            parts.append(
                Part(
                    id: notification.id, kind: notification.kind.rawValue, state: notification.state.rawValue,
                    requestedAt: notification.createdAt, recipient: notification.recipient,
                    findings: findings.isEmpty ? [.noDelivery(of: notification.id)] : findings))
        }
        self.parts =
            parts
            + question.appNotifications.map {
                Part(
                    id: $0.id, kind: $0.kind, state: $0.state.rawValue, requestedAt: $0.createdAt, app: $0.app,
                    findings: [PushFinding($0)])
            }
        others = question.others
        isCut = question.isCut
    }

    /// The answers for the members of a topic who got no delivery.
    private static func members(
        of notification: NotificationRecord, _ userID: UUID?, _ inquiry: PushInquiryRepository
    ) async throws -> [PushFinding] {
        guard notification.explainsMembers else { return [] }
        let members = try await inquiry.unaddressedMembers(of: notification, userID)
        let findings = members.map { PushFinding($0, requestedAt: notification.createdAt) }
        guard userID == nil, try await inquiry.hasMoreMembers(notification) else { return findings }
        let most = PushInquiryRepository.maxMembers
        return findings + [
            PushFinding("Only \(most) members of the topic were looked at, and it has more.", remedy: "Ask for one person with `--user`.")
        ]
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        let parts = parts.flatMap { part -> [PrintableText] in
            let end: PrintableText =
                part.recipient.map { "to \($0.type.rawValue) \($0.id)" } ?? "by the server of the app \(part.app ?? "")"
            let heading: PrintableText =
                "\(part.kind) \(part.id.wireString), requested \(HumanUnits.timestamp(part.requestedAt)), \(end)"
            return [heading] + part.findings.flatMap { Self.lines($0, style) } + [""]
        }
        return Array((parts + others.flatMap { Self.lines($0, style) + [""] }).dropLast())
    }

    private static func lines(_ finding: PushFinding, _ style: TextStyle) -> [PrintableText] {
        let who = finding.userID.map { "User \($0.wireString): " } ?? ""
        let code: PrintableText = finding.code.map { style.apply(.faint, to: " (\($0))") } ?? ""
        return ["  \(who)\(finding.sentence)\(code)", "    \(finding.remedy)"]
    }

    func encode(to encoder: any Encoder) throws {
        func json(_ findings: [PushFinding]) -> [JSONRecord] {
            findings.map { finding in
                [
                    "code": finding.code, "user_id": finding.userID?.wireString, "count": finding.count, "sentence": finding.sentence,
                    "remedy": finding.remedy,
                ]
            }
        }
        let notifications = parts.map { part -> JSONRecord in
            [
                "notification_id": part.id.wireString, "kind": part.kind, "requested_at": part.requestedAt, "state": part.state,
                "app": part.app, "findings": json(part.findings),
                "recipient": part.recipient.map { recipient -> JSONRecord in ["type": recipient.type.rawValue, "id": recipient.id] },
            ]
        }
        let record: JSONRecord = ["notifications": notifications, "others": json(others), "is_cut": isCut]
        try record.encode(to: encoder)
    }
}

extension NotificationRecord {
    /// Whether it has looked for the phones of its topic's members, so that each member without a delivery has a reason of its own.
    fileprivate var explainsMembers: Bool {
        switch state {
        case .requested: false
        case .addressed, .settled: true
        case .skipped: [SkipReason.noInstallation, .senderBlocked].map(\.rawValue).contains(skipReason)
        }
    }
}
