public import FoundationEssentials
public import Push
public import WireFormat

/// A new invitation to a topic: a row of `topic_invitations`.
public struct TopicInvitation: Sendable, Equatable {
    /// The time during which an invitation can be accepted: 30 days.
    public static let lifetime: Duration = .seconds(30 * 24 * 60 * 60)

    /// The topic's id.
    public let topicID: UUID
    /// The topic's name.
    public let topic: TopicName
    /// The invited user; the id may belong to no account.
    public let userID: UUID
    /// Whether the user gets a push: false above a limit of ``TopicInvitationQuota`` that protects the invited user.
    public let isAnnounced: Bool

    /// The request for the push of the invitation. Publish it in the transaction that makes the invitation.
    public var announcement: NotificationRequested { InvitationPush(topic: topic, topicID: topicID).request(to: userID) }
}

/// Limits on the invitations that one account makes and on the pushes of invitations to one user, over all instances.
public struct TopicInvitationQuota: Sendable {
    /// The users whom an account invites, or adds without an invitation, in 24 hours, ended invitations included.
    public var madePerDay: Int
    /// Open invitations for which a user got a push, at a time. Above it, invitations are made without a push.
    public var openPerUser: Int
    /// The pushes for invitations by one account: a single account must not use up the limit of a user.
    public var openPerPair: Int
    /// Pushes of invitations that a user gets in 24 hours. Above it, invitations are made without a push.
    public var pushedPerDay: Int

    /// Makes a quota; by default 100 made a day, 20 open at a time (3 by one account) and 50 pushes a day.
    public init(madePerDay: Int = 100, openPerUser: Int = 20, openPerPair: Int = 3, pushedPerDay: Int = 50) {
        self.madePerDay = madePerDay
        self.openPerUser = openPerUser
        self.openPerPair = openPerPair
        self.pushedPerDay = pushedPerDay
    }
}
