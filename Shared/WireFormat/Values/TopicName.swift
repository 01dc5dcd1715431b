/// The name of a group of people who are told the same things: `event:<id>` or `conversation:<id>`.
///
/// The id has 1 to 64 characters of `A–Z a–z 0–9 _ -`, and its case counts.
public struct TopicName: Sendable, Hashable {
    /// What brings the people of a topic together.
    public enum Kind: String, Sendable, CaseIterable {
        /// An event that people take photos at.
        case event
        /// People who write to each other.
        case conversation
    }

    /// The most characters of an id.
    public static let idLengthMax = 64

    /// What brings them together.
    public let kind: Kind
    /// Which event or conversation it is.
    public let id: String

    /// The whole name, such as `event:42`.
    public var text: String { "\(kind.rawValue):\(id)" }

    /// Reads a name; nil for anything that is none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), 1...Self.idLengthMax ~= parts[1].utf8.count,
            parts[1].utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.kind = kind
        id = String(parts[1])
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}

extension NotificationRecipient {
    /// Every member of the given topic.
    public static func topic(_ name: TopicName) -> NotificationRecipient { .topic(name.text) }
}

/// Parameters of a notification that are read by more than the texts of one kind.
public enum NotificationParameter {
    /// The member of a topic who is not told, because it is their own doing; only with a topic as the recipient.
    public static let exceptUserID = "except_user_id"
    /// The blob key of a JPEG, of which a link is made when the push is sent: no event carries a link that opens something.
    public static let image = "image"
    /// The topic's own id, which its name has to mean still, or nobody is told; only with a topic as the recipient.
    public static let topicID = "topic_id"
    /// What was said in a chat: sealed for `SealingContext.chatPreview`, as base64url. Absent when it is sensitive.
    public static let textSealed = "text_sealed"
    /// Who said it: sealed for `SealingContext.chatSenderName`, as base64url. Absent when the sender has no name.
    public static let senderNameSealed = "sender_name_sealed"
}
