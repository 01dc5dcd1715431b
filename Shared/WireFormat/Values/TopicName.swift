public import JSON

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

extension TopicName: BodyValue {
    /// Reads the whole name, such as `event:42`.
    public init(json: JSONElement) throws(BodyFault) {
        guard let name = Self(try String(json: json)) else { throw BodyFault("is not the name of a topic") }
        self = name
    }

    /// Writes the whole name.
    public func write(to json: inout JSONWriter) { json.string(text) }
}

extension NotificationRecipient {
    /// Every member of the given topic.
    public static func topic(_ name: TopicName) -> NotificationRecipient { .topic(name.text) }
}
