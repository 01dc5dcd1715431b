/// The name of a topic, whose members get the same notifications: `event:<id>` or `conversation:<id>`.
///
/// The id has 1 to 64 characters of `A–Z a–z 0–9 _ -` and is case-sensitive.
public struct TopicName: Sendable, Hashable {
    /// The kind of a topic.
    public enum Kind: String, Sendable, CaseIterable {
        /// An event that people take photos at.
        case event
        /// People who write to each other.
        case conversation
    }

    /// The maximum number of characters of an id.
    public static let maxIDLength = 64

    /// The kind of the topic.
    public let kind: Kind
    /// The id of the event or conversation.
    public let id: String

    /// The whole name, such as `event:42`.
    public var text: String { "\(kind.rawValue):\(id)" }

    /// Parses a name; nil when it is invalid.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), 1...Self.maxIDLength ~= parts[1].utf8.count,
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

/// Names of notification parameters that are not specific to the texts of one kind.
public enum NotificationParameter {
    /// The member of a topic who caused the notification and is therefore left out; only with a topic as the recipient.
    public static let exceptUserID = "except_user_id"
    /// The blob key of a JPEG, whose media link is created when the push is sent, because events must not carry working links.
    public static let image = "image"
    /// The topic's own id; if its name refers to another topic by then, nothing is sent. Only with a topic as the recipient.
    public static let topicID = "topic_id"
    /// The text of a chat message: sealed for `SealingContext.chatPreview`, as base64url. Absent when it is sensitive.
    public static let textSealed = "text_sealed"
    /// The sender's name: sealed for `SealingContext.chatSenderName`, as base64url. Absent when the sender has no name.
    public static let senderNameSealed = "sender_name_sealed"
    /// The parameters that hold users' texts; the outbox empties them in a message that all groups have handled.
    public static let sealedTexts = [textSealed, senderNameSealed]
}
