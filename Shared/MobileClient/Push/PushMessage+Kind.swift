extension PushMessage.Kind {
    /// Reads the kind and its ids from the data. Nil for a kind that is unknown, and when an id is missing or cannot be one.
    init?(_ payload: PushPayload) {
        let data = payload.data
        func id(_ name: String) -> String? { data[name].flatMap { Self.isID($0) ? $0 : nil } }
        guard let name = data["kind"], let kind = Self.read(name, payload, data, id) else { return nil }
        self = kind
    }

    private static func read(_ name: String, _ payload: PushPayload, _ data: [String: String], _ id: (String) -> String?) -> Self? {
        switch name {
        case "job_completed", "job_failed":
            id("jobId").map {
                .job(
                    PushMessage.Job(
                        id: $0, isCompleted: name == "job_completed", templateName: data["templateName"], reason: data["error"]))
            }
        case "sign_up", "sign_in":
            if let event = PushMessage.EKYC.Event(rawValue: name), let session = id("session_id") {
                .ekyc(PushMessage.EKYC(event: event, sessionID: session.lowercased(), claimedSuccess: payload.values["success"]?.flag))
            } else {
                nil
            }
        case "new_photos": id("event_id").map { .newPhotos(eventID: $0) }
        case "chat_message":
            if let conversation = id("conversationId"), let sender = id("senderId") {
                .chatMessage(
                    PushMessage.ChatMessage(
                        conversationID: conversation, senderID: sender, messageID: messageID(payload.identifier), preview: data["message"]))
            } else {
                nil
            }
        case "invitation": data["topic"].flatMap { isTopic($0) ? .invitation(topic: $0) : nil }
        case "sign_in_confirmation": id("session_id").map { .signInConfirmation(sessionID: $0.lowercased()) }
        case "account_alert": id("alert").map { .accountAlert(PushMessage.Alert(rawValue: $0)) }
        case "possession_check":
            if let handOver = id("handover_id"), let nonce = data["nonce"], (1...1_024).contains(nonce.utf8.count) {
                .possessionCheck(PushMessage.PossessionCheck(handOverID: handOver, nonce: nonce))
            } else {
                nil
            }
        default:
            id("notification_id").map { notification in
                let parameters = data.filter { !["kind", "type", "notification_id"].contains($0.key) }
                return .app(PushMessage.AppPush(kind: name, notificationID: notification, parameters: parameters))
            }
        }
    }

    /// The identifier that the notifier gives the notification, computed for a payload without one. It is nil for a conversation, because
    /// that identifier needs a hash of the id.
    var subject: String? {
        switch self {
        case .job(let job): "job:\(job.id)"
        case .ekyc(let result): "ekyc:\(result.sessionID)"
        case .newPhotos(let eventID): "event:\(eventID)"
        case .invitation(let topic): "invitation:\(topic)"
        case .app(let push): "app:\(push.notificationID)"
        case .signInConfirmation(let id): "confirmation:\(id)"
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
