extension PushMessage {
    /// A push about a job: `job_completed` or `job_failed`.
    public struct Job: Sendable, Hashable {
        /// The id of the job in the API.
        public let id: String
        /// Whether the push says that the picture is ready. Only the API's answer is the job's state.
        public let isCompleted: Bool
        /// The name of the style; only where the picture is ready.
        public let templateName: String?
        /// Why there is no picture, as a text for people; only of a failure.
        public let reason: String?
    }

    /// A push about a session: `sign_up` or `sign_in`.
    public struct EKYC: Sendable, Hashable {
        /// Whether it is a sign-up or a sign-in.
        public enum Event: String, Sendable {
            case signUp = "sign_up"
            case signIn = "sign_in"
        }

        /// Whether the push is about a sign-up or a sign-in.
        public let event: Event
        /// The id of the session in the API.
        public let sessionID: String
        /// The outcome according to the push, only for a text on the screen: only the session's own answer signs a person in. Nil when the
        /// push has no outcome.
        public let claimedSuccess: Bool?
    }

    /// A push about a message of a conversation.
    public struct ChatMessage: Sendable, Hashable {
        /// The id of the conversation, without `conversation:`.
        public let conversationID: String
        /// The id of the user who sent the message.
        public let senderID: String
        /// The sender's id of the message, from the notification's identifier; nil where that is unknown.
        public let messageID: String?
        /// The text that is shown: up to 100 characters, and a general text for a sensitive message.
        public let preview: String?
    }

    /// The question whether an installation gets its pushes (docs/api/phones.md).
    public struct PossessionCheck: Sendable, Hashable {
        /// The id of the hand-over that waits for this proof, to be returned to the API.
        public let handOverID: String
        /// The value that only this push has, to be returned to the API.
        public let nonce: String
    }

    /// A push of the app's own server.
    public struct AppPush: Sendable, Hashable {
        /// The app's kind, such as `order.shipped`.
        public let kind: String
        /// The id of the notification, as the app's own server has it from the API.
        public let notificationID: String
        /// The app's parameters.
        public let parameters: [String: String]
    }

    /// A change to the account. An alert that this version does not know keeps its name.
    public struct Alert: RawRepresentable, Hashable, Sendable {
        /// The name of the alert in the push's data.
        public let rawValue: String

        /// Creates an alert from its name; any text is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The account was signed in to on another device.
        public static let newSignIn = Self(rawValue: "new_sign_in")
        /// A face was enrolled for the account, or replaced.
        public static let faceChanged = Self(rawValue: "face_changed")
        /// A recovery of the account was started and takes effect after a delay, unless it is cancelled.
        public static let recoveryStarted = Self(rawValue: "recovery_started")
        /// The recovery of the account was cancelled.
        public static let recoveryCancelled = Self(rawValue: "recovery_cancelled")
        /// The recovery of the account has taken effect.
        public static let recoveryCompleted = Self(rawValue: "recovery_completed")
        /// The e-mail address of the account was changed.
        public static let emailChanged = Self(rawValue: "email_changed")
    }
}

extension PushMessage {
    /// The id of the conversation that a push is about; nil for all other pushes.
    public var conversationID: String? {
        switch kind {
        case .chatMessage(let message): message.conversationID
        case .invitation(let topic) where topic.hasPrefix("conversation:"): String(topic.dropFirst("conversation:".count))
        default: nil
        }
    }

    /// Identifies the event, so that a push that arrives twice is handled once. Nil if two pushes about the same subject cannot be
    /// distinguished from one push that arrives twice.
    var occurrence: String? {
        switch kind {
        case .job(let job): "\(job.isCompleted ? "job_completed" : "job_failed") \(job.id)"
        case .ekyc(let result): "\(result.event.rawValue) \(result.sessionID)"
        case .possessionCheck(let check): "possession_check \(check.handOverID) \(check.nonce)"
        case .signInConfirmation(let id): "sign_in_confirmation \(id)"
        case .app(let push): "app \(push.notificationID)"
        case .chatMessage(let message) where message.messageID != nil:
            "chat \(message.conversationID) \(message.messageID ?? "")"
        case .chatMessage, .newPhotos, .invitation, .accountAlert, .badge, .unknown: payload.messageID.map { "message \($0)" }
        }
    }
}
