public import FoundationEssentials
public import Push

/// The sources of the values that the content of a push does not have: its id, links to pictures, and opened texts.
public struct PushSources: Sendable {
    /// The id of the notification.
    public let notificationID: UUID
    /// Returns the URL of a picture, given its key in the blob store; nil when phones could not load it.
    public let link: @Sendable (String) -> String?
    /// Opens a sealed text.
    public let open: @Sendable (SealedText) throws -> String

    /// Names the sources.
    public init(
        notificationID: UUID, link: @escaping @Sendable (String) -> String?, open: @escaping @Sendable (SealedText) throws -> String
    ) {
        self.notificationID = notificationID
        self.link = link
        self.open = open
    }
}
