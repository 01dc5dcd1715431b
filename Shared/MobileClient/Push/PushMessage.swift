/// A push of this backend, read from its payload: its subject, its texts, and the whole payload.
///
/// A push only wakes an app, and proves nothing: apps fetch its subject from the API. Reading never fails: a payload of an unknown kind, or
/// without an id that its kind needs, is ``Kind/unknown`` and keeps its values.
public struct PushMessage: Sendable, Hashable {
    /// The subject of a push.
    public enum Kind: Sendable, Hashable {
        /// A picture is ready or could not be made.
        case job(Job)
        /// A sign-up or sign-in was decided.
        case ekyc(EKYC)
        /// Others added photos to an event.
        case newPhotos(eventID: String)
        /// A message in a conversation.
        case chatMessage(ChatMessage)
        /// An invitation into a topic (`event:…` or `conversation:…`).
        case invitation(topic: String)
        /// A sign-in on a new device waits for a code or a confirmation: ``AccountClient/waitingSignIns()`` lists all that wait.
        case signInConfirmation(sessionID: String)
        /// A change to the account.
        case accountAlert(Alert)
        /// The API asks whether this installation gets its pushes: the app returns the two values.
        case possessionCheck(PossessionCheck)
        /// A push of the app's own server.
        case app(AppPush)
        /// Only sets the badge.
        case badge
        /// Of a kind that this version does not know, or without an id that its kind needs.
        case unknown
    }

    /// Its subject.
    public let kind: Kind
    /// The shown title; nil without a title.
    public let title: String?
    /// The text below the title; nil without a text.
    public let body: String?
    /// The number for the app's icon: the true number of unread items when the push was made. Nil if the icon does not change.
    public let badge: Int?
    /// Whether it has a sound.
    public let hasSound: Bool
    /// Whether the phone shows it without lighting the screen (`passive`).
    public let isQuiet: Bool
    /// The category of its buttons on an iPhone.
    public let category: String?
    /// The payload that it was read from.
    public let payload: PushPayload

    /// Whether it shows a text.
    public var hasAlert: Bool { title != nil || body != nil }

    /// The identifier of its notification: a later push with the same identifier replaces it. Nil without an identifier.
    public let identifier: String?

    /// Reads a payload.
    public init(_ payload: PushPayload) {
        self.payload = payload
        let aps = payload.values["aps"]
        let alert = aps?["alert"]
        title = alert?["title"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        body = (alert?["body"]?.string ?? alert?.string).flatMap { $0.isEmpty ? nil : $0 }
        // A number that no count reaches is an error of the sender.
        badge = aps?["badge"]?.integer.flatMap { (0...1_000_000).contains($0) ? $0 : nil }
        hasSound = aps?["sound"] != nil && aps?["sound"] != .null
        isQuiet = aps?["interruption-level"]?.string == "passive"
        category = aps?["category"]?.string
        kind = Kind(payload) ?? (badge != nil && title == nil && body == nil && payload.data.isEmpty ? .badge : .unknown)
        identifier = payload.identifier ?? kind.subject
    }
}

extension PushPayload {
    /// The values that the sender put into `data`: the texts, without Apple's and Firebase's own members.
    public var data: [String: String] {
        values.compactMapValues(\.string).filter { name, _ in
            !["aps", "fcm_options", "from", "message_type", "notification"].contains(name) && !name.hasPrefix("google.")
                && !name.hasPrefix("gcm.")
        }
    }

    /// FCM's id of the message. A message that FCM delivers twice has the same id twice; a message that the notifier sends twice has two
    /// ids.
    var messageID: String? { values["gcm.message_id"]?.string }
}
