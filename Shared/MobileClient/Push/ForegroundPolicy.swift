/// Decides what a push shows while the app is in the foreground: a push about the conversation on the screen is not shown, any other push
/// is shown unchanged.
public enum ForegroundPolicy {
    /// The presentation of a push while the app is in the foreground (`UNNotificationPresentationOptions`).
    public struct Presentation: Sendable, Hashable {
        /// Whether a banner comes down over the app.
        public var banner: Bool
        /// Whether the sound of the push is played.
        public var sound: Bool
        /// Whether the number on the app's icon is set.
        public var badge: Bool
        /// Whether the push appears in the Notification Center.
        public var list: Bool

        /// Creates a presentation from the four options of the system.
        public init(banner: Bool, sound: Bool, badge: Bool, list: Bool) {
            self.banner = banner
            self.sound = sound
            self.badge = badge
            self.list = list
        }

        /// Shows nothing, and does not change the icon.
        public static let nothing = Self(banner: false, sound: false, badge: false, list: false)
    }

    /// Returns the presentation of a push.
    ///
    /// - Parameters:
    ///   - message: The push.
    ///   - visible: The conversations on the screen.
    ///   - isRepetition: Whether a push of the same kind and identifier is shown already: a repetition replaces it, and makes no sound.
    public static func presentation(of message: PushMessage, visible: Set<String>, isRepetition: Bool) -> Presentation {
        if isVisible(message, visible) { return .nothing }
        // A push of an unknown kind is shown as well: its sender meant it to be.
        return Presentation(
            banner: message.hasAlert && !message.isQuiet, sound: message.hasAlert && message.hasSound && !message.isQuiet && !isRepetition,
            badge: message.badge != nil, list: message.hasAlert)
    }

    /// Whether a push is about a conversation that is on the screen.
    static func isVisible(_ message: PushMessage, _ visible: Set<String>) -> Bool {
        message.conversationID.map(visible.contains) ?? false
    }
}
