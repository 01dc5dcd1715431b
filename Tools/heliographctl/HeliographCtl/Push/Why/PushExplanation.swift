internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// The answer to a ``PushQuestion``: for each notification what became of it, as text or JSON.
struct PushExplanation: Report {
    private struct Part {
        let notification: NotificationRecord
        let findings: [PushFinding]
    }

    private let parts: [Part]
    private let others: [PushFinding]

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
            if notification.explainsMembers {
                findings += try await inquiry.unaddressedMembers(of: notification, question.userID).map {
                    PushFinding($0, requestedAt: notification.createdAt)
                }
            }
            if findings.isEmpty {
                findings = [
                    PushFinding(
                        "It has no delivery to a phone of this user.",
                        remedy:
                            "Ask for what became of it: `heliographctl push why \(notification.id.wireString)`."
                    )
                ]
            }
            parts.append(Part(notification: notification, findings: findings))
        }
        self.parts = parts
        others = question.others
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        let parts = parts.flatMap { part -> [PrintableText] in
            let notification = part.notification
            let heading: PrintableText =
                "\(notification.kind.rawValue) \(notification.id.wireString), requested \(HumanUnits.timestamp(notification.createdAt)), "
                + "to \(notification.recipient.type.rawValue) \(notification.recipient.id)"
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
                "notification_id": part.notification.id.wireString, "kind": part.notification.kind.rawValue,
                "requested_at": part.notification.createdAt, "state": part.notification.state.rawValue,
                "recipient": ["type": part.notification.recipient.type.rawValue, "id": part.notification.recipient.id] as JSONRecord,
                "findings": json(part.findings),
            ]
        }
        let record: JSONRecord = ["notifications": notifications, "others": json(others)]
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
