internal import FoundationEssentials
internal import Push

/// The reason why a topic's notification has no delivery to a member, read when an operator asks: it is not stored.
enum UnaddressedReason: String, CaseIterable {
    case sender
    case notAMember = "not_a_member"
    case joinedLater = "joined_later"
    case joinedLaterOrBlocked = "joined_later_or_blocked"
    case senderBlocked = "sender_blocked"
    case tokenDead = "token_dead"
    case registeredLater = "registered_later"
    case noInstallation = "no_installation"
    case blockedOrUnreachable = "blocked_or_unreachable"
    case unknown

    /// Finds the first reason that applies. Only the present membership, block and phones are stored, each with its start: where an earlier
    /// one may have counted, the reason says so.
    ///
    /// - Parameter requestedAt: When the notification was requested.
    init(_ member: UnaddressedMember, requestedAt: Date) {
        let blocked = member.blocksSenderSince.map { $0 <= requestedAt } == true
        self =
            if member.isSender == true {
                .sender
            } else if let left = member.leftAt, left <= requestedAt {
                .notAMember
            } else if let joined = member.joinedAt, joined > requestedAt {
                blocked ? .joinedLaterOrBlocked : .joinedLater
            } else if blocked {
                .senderBlocked
            } else {
                Self.ofPhones(member, requestedAt: requestedAt)
            }
    }

    /// The reason for a user who was a member and, as far as is known, did not block the sender then.
    private static func ofPhones(_ member: UnaddressedMember, requestedAt: Date) -> UnaddressedReason {
        func wasDead(_ install: PushInstall) -> Bool { install.invalidAt.map { $0 <= requestedAt } == true }
        let installs = member.installs
        if installs.isEmpty { return .noInstallation }
        if installs.allSatisfy(wasDead) { return .tokenDead }
        let earlier = installs.filter { !wasDead($0) && $0.registeredAt <= requestedAt }
        if earlier.isEmpty { return .registeredLater }
        if member.isSender == nil { return .unknown }
        // A phone that gets all pushes now may have been out of reach then, or the user may have blocked the sender for a time.
        return earlier.contains { $0.state == .active || $0.state == .invalid } ? .blockedOrUnreachable : .noInstallation
    }

    var explanation: PushReason {
        switch self {
        case .sender: PushReason("the user sent it", remedy: PushReason.nothingToDo)
        case .notAMember: PushReason("the user had left the topic before", remedy: PushReason.nothingToDo)
        case .joinedLater:
            PushReason(
                "the user joined the topic later, or came back to it: an earlier membership is not kept", remedy: PushReason.nothingToDo)
        case .joinedLaterOrBlocked:
            PushReason(
                "the user joined the topic later, or came back to it (an earlier membership is not kept), or because the user blocks its "
                    + "sender",
                remedy: PushReason.of(Suppression.blocked).remedy)
        case .senderBlocked: .of(Suppression.blocked)
        case .tokenDead: PushReason("FCM has called the tokens of all phones of the user dead", remedy: PushReason.registerAgain)
        case .registeredLater:
            PushReason("the token that the phone of the user has now was registered later", remedy: PushReason.nothingToDo)
        case .unknown:
            PushReason(
                "the user caused it, blocks the user who did, or had no phone that could get it",
                remedy: "The sender of what is no message is not kept. \(PushReason.lookAtPhones)")
        case .blockedOrUnreachable:
            PushReason(
                "the user had blocked its sender then, or no phone of the user could get it then, as a stale or suspect one cannot",
                remedy: "A block that has ended is not kept. \(PushReason.lookAtPhones)")
        case .noInstallation:
            PushReason(
                "no phone of the user could get it",
                remedy:
                    "Let the app register its token after each sign-in. A `stale` phone gets no bulk pushes and a `suspect` one none for "
                    + "a while, until it registers again.")
        }
    }
}
