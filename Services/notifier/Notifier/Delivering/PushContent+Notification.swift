internal import FCM
internal import WireFormat

extension PushContent {
    /// Reads what a notification says from its kind and its parameters.
    ///
    /// - Throws: `invalidMessage`, which names the parameter that is missing.
    init(_ kind: NotificationKind, parameters: [String: String]) throws(FCMError) {
        func value(_ name: String) throws(FCMError) -> String {
            guard let value = parameters[name], !value.isEmpty else {
                throw FCMError(.invalidMessage, "the notification has no parameter \(name)")
            }
            return value
        }
        let badge = parameters["badge"].flatMap { Int($0) }
        switch kind {
        case .jobCompleted:
            self = .jobCompleted(
                jobID: try value("job_id"), templateName: try value("template_name"),
                thumbnailURL: parameters["thumbnail_url"], badge: badge)
        case .jobFailed:
            self = .jobFailed(jobID: try value("job_id"), reason: try value("reason"), badge: badge)
        case .signUp:
            self = .signUp(
                sessionID: try value("session_id"), userID: try value("user_id"),
                succeeded: try value("success") == "true")
        case .signIn:
            self = .signIn(
                sessionID: try value("session_id"), userID: try value("user_id"),
                succeeded: try value("success") == "true")
        case .newPhotos:
            self = .newPhotos(eventID: try value("event_id"), imageURL: parameters["image_url"], badge: badge)
        case .chatMessage:
            self = .chatMessage(
                conversationID: try value("conversation_id"), messageID: parameters["message_id"],
                senderID: try value("sender_id"), senderName: try value("sender_name"),
                text: parameters["text"] ?? "", isSensitive: parameters["sensitive"] == "true", badge: badge)
        }
    }
}
