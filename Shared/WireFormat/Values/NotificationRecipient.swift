public import FoundationEssentials
public import JSON

/// The recipient of a notification.
public struct NotificationRecipient: BodyObject, Hashable {
    /// The type of the recipient that the id names.
    public enum Kind: String, BodyWord {
        /// The device that started a face session.
        case session
        /// Every installation of a user.
        case user
        /// Every member of a topic.
        case topic
        /// One installation, with a user or without.
        case installation
        /// The users whom an app's own server has named in its request; the id is the notification's.
        case list
    }

    /// The type of recipient, which decides what ``id`` names.
    public let type: Kind
    /// The id of the session, user, installation or list, in lower case; for a topic its name, such as `event:42`.
    public let id: String

    /// Creates a recipient from a type and an id that fits it, which is not checked.
    public init(type: Kind, id: String) {
        self.type = type
        self.id = id
    }

    /// Reads `id` and `type`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        id = try body.read("id")
        type = try body.read("type")
    }

    /// Writes `id` and `type`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("id", id)
        body.member("type", type)
    }

    /// The device that started the given face session.
    public static func session(_ id: UUID) -> NotificationRecipient {
        NotificationRecipient(type: .session, id: id.wireString)
    }

    /// Every installation of the given user.
    public static func user(_ id: UUID) -> NotificationRecipient {
        NotificationRecipient(type: .user, id: id.wireString)
    }

    /// The given installation.
    public static func installation(_ id: UUID) -> NotificationRecipient {
        NotificationRecipient(type: .installation, id: id.wireString)
    }

    /// The users in the given row of `app_notifications`.
    public static func list(_ id: UUID) -> NotificationRecipient {
        NotificationRecipient(type: .list, id: id.wireString)
    }

    /// Every member of the given topic, such as `event:42`.
    public static func topic(_ name: String) -> NotificationRecipient {
        NotificationRecipient(type: .topic, id: name)
    }
}
