public import FoundationEssentials
public import WireFormat

/// A kind of push: the members of its content, and the rules for all pushes of the kind.
///
/// A kind is one file in `Shared/Push/Kinds`, which also makes the request for its push, with dedupe key, lane and lifetime.
public protocol PushKind: BodyObject, Hashable {
    /// The name of the kind.
    static var kind: NotificationKind { get }
    /// Whether its subject stays unseen until the app shows it, so that it counts on the app's icon.
    static var hasBadge: Bool { get }
    /// Android's notification channel, which apps create by this name, and users can silence. Nil for a push that shows nothing, and for
    /// a kind whose sealed content names the channel.
    static var channelID: String? { get }
    /// The number of newest pushes about one topic that are sent to a phone for which pushes wait; nil when all are sent.
    static var newestKept: Int? { get }
    /// The condition without which a push is not sent any more; nil without such a condition.
    static var condition: PushCondition? { get }
    /// Whether it reports the result of a sign-up or sign-in.
    static var isSessionResult: Bool { get }

    /// The content with these members.
    var content: PushContent { get }
    /// The subject on the phone, where a later push with the same subject replaces this one; nil when the sealed content names it.
    var subject: String? { get }
    /// The rows that it is about.
    var references: PushReferences { get }
    /// Whether the phone shows a picture.
    var hasPicture: Bool { get }
}

extension PushKind {
    /// All pushes are sent.
    public static var newestKept: Int? { nil }
    /// No condition.
    public static var condition: PushCondition? { nil }
    /// False.
    public static var isSessionResult: Bool { false }
    /// No row.
    public var references: PushReferences { PushReferences() }
    /// False.
    public var hasPicture: Bool { false }
}

/// A kind of push about a thing with an id, which pushes once about each thing.
public protocol PushAboutThing: PushKind {
    /// The beginning of its dedupe keys.
    static var keyPrefix: String { get }
}

extension PushAboutThing {
    /// The dedupe key of the push about a thing: a second request with the same key has no effect.
    public static func dedupeKey(about id: UUID) -> String { "\(keyPrefix):\(id.wireString)" }
}

/// A condition that is checked when a push is claimed to be sent, because the push is of no use without it.
public enum PushCondition: Sendable {
    /// The image job is neither deleted nor expired.
    case jobExists
    /// The conversation is not on the screen of the phone.
    case conversationNotShown
    /// The invitation is open, and the user does not block its sender.
    case invitationOpen
    /// The sign-in waits for its code or its confirmation, and the phone's sign-in has a device key, with which it can be confirmed.
    case signInConfirmable
}

/// The rows that a push is about; each is a column of `notifications`.
public struct PushReferences: Sendable, Hashable {
    /// The image job (`image_jobs.id`).
    public var jobID: UUID?
    /// The topic (`topics.id`). No push is sent when the recipient's name has become another topic's.
    public var topicID: UUID?
    /// The user whose text or picture it shows; the push ends when this account is erased. If the recipient is a topic, members who block
    /// this user get no push.
    public var senderID: UUID?
    /// The account of a session or of an alert, which the content names.
    public var accountID: UUID?
    /// The session (`sessions.id`) of a sign-in that waits.
    public var sessionID: UUID?

    /// Makes references; nil stands for no row.
    public init(
        jobID: UUID? = nil, topicID: UUID? = nil, senderID: UUID? = nil, accountID: UUID? = nil, sessionID: UUID? = nil
    ) {
        self.jobID = jobID
        self.topicID = topicID
        self.senderID = senderID
        self.accountID = accountID
        self.sessionID = sessionID
    }
}
