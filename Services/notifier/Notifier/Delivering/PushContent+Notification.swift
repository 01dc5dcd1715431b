internal import FCM
internal import WireFormat

extension PushContent {
    /// Reads what a notification says from its kind and its parameters.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon; nil leaves it as it is.
    ///   - link: Makes a URL of a picture's key in the blob store, nil when phones could not load it.
    /// - Throws: `invalidMessage`, which names the parameter that is missing.
    init(
        _ kind: NotificationKind, parameters: [String: String], badge: Int?, link: (String) -> String?
    ) throws(FCMError) {
        func value(_ name: String) throws(FCMError) -> String {
            guard let value = parameters[name], !value.isEmpty else {
                throw FCMError(.invalidMessage, "the notification has no parameter \(name)")
            }
            return value
        }
        let picture = parameters["image"].flatMap(link)
        switch kind {
        case .jobCompleted:
            self = .jobCompleted(
                jobID: try value("job_id"), templateName: try value("template_name"),
                thumbnailURL: picture, badge: badge)
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
            self = .newPhotos(eventID: try value("event_id"), imageURL: picture, badge: badge)
        case .chatMessage:
            self = .chatMessage(
                conversationID: try value("conversation_id"), messageID: parameters["message_id"],
                senderID: try value("sender_id"), senderName: try value("sender_name"),
                text: parameters["text"] ?? "", isSensitive: parameters["sensitive"] == "true", badge: badge)
        }
    }
}
