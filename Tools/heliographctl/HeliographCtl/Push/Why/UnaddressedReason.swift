internal import FoundationEssentials
internal import Storage

/// The reason why a topic's notification has no delivery to a member, read when an operator asks: it is not stored.
enum UnaddressedReason: String, CaseIterable {
    case sender
    case notAMember = "not_a_member"
    case joinedLater = "joined_later"
    case senderBlocked = "sender_blocked"
    case tokenDead = "token_dead"
    case registeredLater = "registered_later"
    case noInstallation = "no_installation"
    case unknown

    /// Finds the first reason that applies. All but the times of joining and leaving are of now, and may have been otherwise then.
    ///
    /// - Parameter requestedAt: When the notification was requested.
    init(_ member: UnaddressedMember, requestedAt: Date) {
        let installs = member.installs
        self =
            if member.isSender == true {
                .sender
            } else if let left = member.leftAt, left <= requestedAt {
                .notAMember
            } else if let joined = member.joinedAt, joined > requestedAt {
                .joinedLater
            } else if member.blocksSender == true {
                .senderBlocked
            } else if installs.isEmpty {
                .noInstallation
            } else if installs.allSatisfy({ $0.state == .invalid }) {
                .tokenDead
            } else if installs.allSatisfy({ $0.registeredAt > requestedAt || $0.state == .invalid }) {
                .registeredLater
            } else if member.isSender == nil {
                .unknown
            } else {
                .noInstallation
            }
    }

    var explanation: PushReason {
        switch self {
        case .sender: PushReason("the user sent it", remedy: PushReason.nothingToDo)
        case .notAMember: PushReason("the user had left the topic before", remedy: PushReason.nothingToDo)
        case .joinedLater: PushReason("the user joined the topic later", remedy: PushReason.nothingToDo)
        case .senderBlocked: .of(Suppression.blocked)
        case .tokenDead: PushReason("FCM has called the tokens of all phones of the user dead", remedy: PushReason.registerAgain)
        case .registeredLater: PushReason("the phone of the user registered its token later", remedy: PushReason.nothingToDo)
        case .unknown:
            PushReason(
                "the user caused it, blocks the user who did, or had no phone that could get it",
                remedy: "The sender of what is no message is not kept. Look at the phones with `heliographctl push why <user>`.")
        case .noInstallation:
            PushReason(
                "no phone of the user could get it",
                remedy:
                    "Let the app register its token after each sign-in. A `stale` phone gets no bulk pushes and a `suspect` one none for "
                    + "a while, until it registers again.")
        }
    }
}
