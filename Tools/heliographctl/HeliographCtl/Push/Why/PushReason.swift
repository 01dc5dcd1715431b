internal import CommandLineSupport
internal import Push

/// The reason why a push was not sent or not shown, in words for an operator.
struct PushReason: Equatable {
    /// The cause: the text after "because".
    let cause: String
    /// The remedy for the operator: a sentence.
    let remedy: String

    init(_ cause: String, remedy: String) {
        self.cause = cause
        self.remedy = remedy
    }

    /// The remedy when no action is needed.
    static let nothingToDo = "Nothing is to be done: this is as it should be."
    /// The remedy of what waits, or waited, for a service.
    private static let lookAtStreams = "Look at the backlog with `heliographctl streams`, and at the log of the service that is behind."

    /// Returns the reason of a notification that reached no installation.
    static func of(_ reason: SkipReason) -> PushReason {
        switch reason {
        case .expired: PushReason("it had expired before token-registry looked for its phones", remedy: lookAtStreams)
        case .sessionUnknown: PushReason("its session does not exist any more", remedy: nothingToDo)
        case .tokenMissing:
            PushReason(
                "the phone that began the session sent no token, or has signed out since",
                remedy: "Let the app send `fcm_token` with the photos; a phone without one asks for the session.")
        case .tokenDead: PushReason("FCM has called the token of the phone dead since the app sent it", remedy: registerAgain)
        case .noInstallation:
            PushReason(
                "no phone of the recipient could get it",
                remedy: "\(lookAtPhones) Let the app register its token after each sign-in and each change, with "
                    + "`POST /v1/users/device-token`.")
        case .noRecipient:
            PushReason(
                "none of its users has an account, or its topic has no members",
                remedy: "Give the app's server the ids that its app gets as `user_id`: `unknown` in the answer counts the others.")
        case .ownDevice: PushReason("the user has no other phone than the one that caused it", remedy: nothingToDo)
        case .senderBlocked: PushReason("all members with a reachable phone block its sender", remedy: blockStays)
        case .topicEnded: PushReason("its topic has ended, or its name belongs to a newer topic", remedy: nothingToDo)
        case .userErased: PushReason("the account of its user is erased", remedy: nothingToDo)
        case .recipientUnsupported:
            PushReason(
                "its recipient is malformed", remedy: "Look in the log of token-registry for the notification: its author has a fault.")
        }
    }

    /// Returns the reason for which a sender did not send a push that was addressed.
    static func of(_ suppression: Suppression) -> PushReason {
        switch suppression {
        case .expired: PushReason("it had expired when a notifier took it", remedy: lookAtStreams)
        case .jobGone: PushReason("its picture was deleted, or had expired, before it was sent", remedy: nothingToDo)
        case .noInstallation:
            PushReason("the phone has signed out, changed its user or lost its token since it was addressed", remedy: registerAgain)
        case .notAMember: PushReason("the user had left the topic", remedy: nothingToDo)
        case .blocked: PushReason("the user blocks its sender", remedy: blockStays)
        case .presence: PushReason("the phone had the conversation on its screen", remedy: nothingToDo)
        case .notInvited:
            PushReason("the invitation was answered, withdrawn or expired before, or its sender is blocked by now", remedy: nothingToDo)
        case .notConfirmable:
            PushReason("the sign-in was decided before, or the phone has no device key to confirm it with", remedy: nothingToDo)
        }
    }

    /// Returns the reason of a delivery that our services ended or put off.
    static func of(_ code: DeliveryCode) -> PushReason {
        switch code {
        case .attemptsExhausted:
            PushReason(
                "each notifier that took it died before it ended", remedy: "Look for crashes of notifier, and report them with its log.")
        case .invalidMessage:
            PushReason(
                "its message cannot be made: its content is erased, too long or cannot be read",
                remedy: "Look in the log of notifier for \"a push cannot be built\": its author has a fault.")
        case .sealedValue:
            PushReason(
                "its token or text cannot be opened with the keys of notifier",
                remedy: "Run `heliographctl keys verify`, and give notifier all keys of TOKEN_KEYS.")
        case .neverSent: PushReason("it had expired before a notifier took it", remedy: lookAtStreams)
        case .superseded: PushReason("a newer push to the same topic has replaced it", remedy: nothingToDo)
        case .userErased: PushReason("the account of its user is erased", remedy: nothingToDo)
        case .lanePaused:
            PushReason(
                "FCM has asked its lane to wait: the project's quota is reached",
                remedy: "It is sent by itself; if it happens often, have Google raise the quota and set FCM_QUOTA_PER_MINUTE to it.")
        case .installationRate:
            PushReason("the phone gets more pushes than FCM allows to one phone", remedy: "It is sent by itself; send fewer pushes to it.")
        case .claimTooOld:
            PushReason("the notifier that had taken it could not send it in time", remedy: "It is sent by itself; start more notifiers.")
        case .senderStopped: PushReason("a notifier ended before it sent it", remedy: "It is sent by itself by another notifier.")
        case .senderLost:
            PushReason("a notifier died while it had it", remedy: "It is sent by itself; look for crashes of notifier.")
        case .eventMissing:
            PushReason("Redis has lost its event", remedy: "It is sent by itself; look whether Redis was emptied or evicts keys.")
        case .breakerCredentials:
            PushReason(
                "FCM refuses the credentials of the project",
                remedy: "Give notifier a valid service account of the app's Firebase project; then it is sent by itself.")
        case .breakerTransient:
            PushReason("most pushes fail at FCM", remedy: "It is sent by itself when FCM works again; see Firebase's status page.")
        }
    }

    /// The reason of a delivery behind the open circuit breaker of a platform's push service.
    static let providerBreaker = PushReason(
        "the push service of the phone's platform refuses the project's credentials",
        remedy: "Renew the APNs key, or the web push certificate, in the Firebase console; then it is sent by itself.")

    /// What shows an operator the phones of a person.
    static let lookAtPhones = "See the phones with `heliographctl users show --id <user>`."
    static let registerAgain = "Nothing is to be done here: the app gets a new token, and registers it at its next start."
    private static let blockStays = "Nothing is to be done: a block is the person's choice. Do not tell the sender."
}
