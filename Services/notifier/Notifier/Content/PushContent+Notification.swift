internal import FCM
internal import FoundationEssentials
internal import Storage
internal import WireFormat

extension PushContent {
    /// The text of a chat push in place of a name or text that may not be shown.
    private static let someMessage = "New message"

    /// Makes the content of a notification from its kind and its parameters.
    ///
    /// - Parameters:
    ///   - link: Makes a URL from a picture's key in the blob store; nil when phones could not load it.
    ///   - open: Opens a sealed parameter, given its context.
    /// - Throws: `FCMError` with code `invalidMessage`, which names the missing parameter; the errors of `open`.
    init(
        _ kind: NotificationKind, parameters: [String: String], link: (String) -> String?,
        open: (String, [UInt8]) throws -> String, notificationID: UUID
    ) throws {
        func value(_ name: String) throws(FCMError) -> String {
            guard let value = parameters[name], !value.isEmpty else {
                throw FCMError(.invalidMessage, "the notification has no parameter \(name)")
            }
            return value
        }
        let picture = parameters[NotificationParameter.image].flatMap(link)
        switch kind {
        case .jobCompleted:
            self = .jobCompleted(
                jobID: try value("job_id"), templateName: try value("template_name"), thumbnailURL: picture)
        case .jobFailed: self = .jobFailed(jobID: try value("job_id"), reason: try value("reason"))
        case .signUp:
            self = .signUp(
                sessionID: try value("session_id"), userID: try value("user_id"),
                succeeded: try value("success") == "true")
        case .signIn:
            self = .signIn(
                sessionID: try value("session_id"), userID: try value("user_id"),
                succeeded: try value("success") == "true")
        case .newPhotos: self = .newPhotos(eventID: try value("event_id"), imageURL: picture)
        case .chatMessage:
            let text = parameters[NotificationParameter.textSealed]
            let name = parameters[NotificationParameter.senderNameSealed]
            self = .chatMessage(
                conversationID: try value("conversation_id"), messageID: parameters["message_id"],
                senderID: try value("sender_id"),
                senderName: try name.map { try open($0, SealingContext.chatSenderName(notificationID: notificationID)) }
                    ?? Self.someMessage,
                text: try text.map { try open($0, SealingContext.chatPreview(notificationID: notificationID)) }
                    ?? Self.someMessage,
                isSensitive: text == nil || parameters["sensitive"] == "true")
        case .invitation: self = .invitation(topic: try value("topic"))
        case .accountAlert:
            guard let alert = AccountAlert(rawValue: try value("alert")) else {
                throw FCMError(.invalidMessage, "the alert is unknown")
            }
            self = .accountAlert(userID: try value("user_id"), alert: alert)
        case .possessionCheck:
            let nonce = try open(
                try value(NotificationParameter.nonceSealed), SealingContext.possessionNonce(notificationID: notificationID))
            self = .possessionCheck(handOverID: try value("handover_id"), nonce: nonce)
        case .custom:
            let text = try open(
                try value(NotificationParameter.contentSealed), SealingContext.appContent(notificationID: notificationID))
            guard let content = try? JSONDecoder().decode(AppContent.self, from: Data(text.utf8)) else {
                throw FCMError(.invalidMessage, "the content cannot be read")
            }
            self = .custom(content, notificationID: notificationID.wireString)
        }
    }
}
