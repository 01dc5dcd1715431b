extension PushMessage.Kind {
    /// Reads the kind and its ids from the data. Nil for a kind that is unknown, and when an id is missing or cannot be one.
    init?(_ payload: PushPayload) {
        let data = payload.data
        func id(_ name: String) -> String? { data[name].flatMap { Self.isID($0) ? $0 : nil } }
        if let type = data["type"] {
            guard let kind = Self.typed(type, data, id) else { return nil }
            self = kind
        } else if let event = data["event"].flatMap(PushMessage.EKYC.Event.init(rawValue:)) {
            guard let session = id("session_id") else { return nil }
            self = .ekyc(
                PushMessage.EKYC(event: event, sessionID: session.lowercased(), claimedSuccess: payload.values["success"]?.flag))
        } else if data["action"] == "new_photos" {
            guard let event = id("event_id") else { return nil }
            self = .newPhotos(eventID: event)
        } else if let conversation = id("conversationId"), let sender = id("senderId") {
            self = .chatMessage(
                PushMessage.ChatMessage(
                    conversationID: conversation, senderID: sender, messageID: Self.messageID(payload.identifier), preview: data["message"])
            )
        } else {
            return nil
        }
    }

    private static func typed(_ type: String, _ data: [String: String], _ id: (String) -> String?) -> Self? {
        switch type {
        case "job_completed", "job_failed":
            id("jobId").map {
                .job(
                    PushMessage.Job(
                        id: $0, isCompleted: type == "job_completed", templateName: data["templateName"], reason: data["error"]))
            }
        case "invitation": data["topic"].flatMap { isTopic($0) ? .invitation(topic: $0) : nil }
        case "account_alert": id("alert").map { .accountAlert(PushMessage.Alert(rawValue: $0)) }
        case "possession_check":
            if let handOver = id("handover_id"), let nonce = data["nonce"], (1...1_024).contains(nonce.utf8.count) {
                .possessionCheck(PushMessage.PossessionCheck(handOverID: handOver, nonce: nonce))
            } else {
                nil
            }
        default:
            id("notification_id").map { notification in
                let parameters = data.filter { !["type", "notification_id"].contains($0.key) }
                return .app(PushMessage.AppPush(kind: type, notificationID: notification, parameters: parameters))
            }
        }
    }

    /// What the notifier makes the notification's identifier of, for a payload without one. A conversation's needs a hash of its id, and
    /// is nil.
    var subject: String? {
        switch self {
        case .job(let job): "job:\(job.id)"
        case .ekyc(let result): "ekyc:\(result.sessionID)"
        case .newPhotos(let eventID): "event:\(eventID)"
        case .invitation(let topic): "invitation:\(topic)"
        case .app(let push): "app:\(push.notificationID)"
        case .possessionCheck(let check): "possession:\(check.handOverID)"
        case .chatMessage, .accountAlert, .badge, .unknown: nil
        }
    }

    /// The sender's id in `chat:<id>:<hash>`.
    private static func messageID(_ identifier: String?) -> String? {
        guard let parts = identifier?.split(separator: ":", omittingEmptySubsequences: false), parts.count >= 2, parts[0] == "chat",
            (1...48).contains(parts[1].utf8.count), isID(String(parts[1]))
        else { return nil }
        return String(parts[1])
    }

    /// Whether a text can be an id: 1 to 128 of `A-Z a-z 0-9 _ - .`, and not only dots. Ids become parts of paths.
    static func isID(_ text: String) -> Bool { text.isPlain(upTo: 128, dots: true) && text.utf8.contains { $0 != UInt8(ascii: ".") } }

    /// Whether a text is the name of a topic.
    static func isTopic(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 && ["event", "conversation"].contains(parts[0]) && isID(parts[1])
    }
}
