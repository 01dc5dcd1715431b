/// Decides about each push that arrives or is opened: whether its handlers run, what it shows, and what the client reports to the API.
///
/// The system reports one push up to four times: to the extension, to the app in the background, to the foreground's delegate, and when it
/// is tapped. FCM and the notifier may send it twice besides. Handlers run once for all of these in a process.
enum PushInbox: Reducer {
    struct State: Hashable, Sendable {
        /// The conversations that are on the screen.
        var visible: Set<String> = []
        /// The pushes whose handlers have run (``PushMessage/occurrence``).
        var handled = RecentSet(capacity: 256)
        /// The notifications that are shown (``PushInbox/shownName(_:)``).
        var shown = RecentSet(capacity: 64)
    }

    enum Event: Hashable, Sendable {
        case visible(Set<String>)
        case arrived(PushMessage, PushContext)
        /// A tap, a button, or the removal of a notification.
        case opened(PushMessage, PushAction)
        case signedOut
    }

    enum Effect: Hashable, Sendable {
        /// Runs the handlers. Performed before the effects after it only where the system waits for them.
        case handle(PushMessage)
        case badge(PushMessage)
        case present(PushMessage, ForegroundPolicy.Presentation, isVisible: Bool)
        case record(PushMessage, PushReceipt.Event)
        case route(PushMessage, PushAction)
    }

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .visible(let conversations):
            state.visible = conversations
            return []
        case .arrived(let message, let context): return arrived(&state, message, context)
        case .opened(let message, let action):
            // Whatever comes later under its identifier is news.
            let ending = suffix(message)
            state.shown.remove { ending != nil && $0.hasSuffix(ending ?? "") }
            if action == .dismiss { return [.record(message, .dismissed)] }
            return [.record(message, .opened), .route(message, action)] + handle(&state, message)
        case .signedOut:
            state = State()
            return []
        }
    }

    private static func arrived(_ state: inout State, _ message: PushMessage, _ context: PushContext) -> [Effect] {
        switch context {
        case .extension:
            // The extension is another process: the app gets the push as well.
            return [.record(message, .delivered)]
        case .background:
            return [.record(message, .delivered)] + badge(message) + handle(&state, message)
        case .foreground:
            let isVisible = ForegroundPolicy.isVisible(message, state.visible)
            let isRepetition = shownName(message).map(state.shown.contains) ?? false
            let presentation = ForegroundPolicy.presentation(of: message, visible: state.visible, isRepetition: isRepetition)
            if presentation.list, let name = shownName(message) { state.shown.insert(name) }
            return [.record(message, isVisible ? .suppressed : .delivered), .present(message, presentation, isVisible: isVisible)]
                + badge(message) + handle(&state, message)
        }
    }

    private static func badge(_ message: PushMessage) -> [Effect] { message.badge == nil ? [] : [.badge(message)] }

    private static func handle(_ state: inout State, _ message: PushMessage) -> [Effect] {
        guard let occurrence = message.occurrence else { return [.handle(message)] }
        return state.handled.insert(occurrence) ? [.handle(message)] : []
    }

    /// Kind and identifier: a picture that is ready is no repetition of the failure before it.
    private static func shownName(_ message: PushMessage) -> String? {
        suffix(message).map { (message.occurrence.flatMap { $0.split(separator: " ").first }.map(String.init) ?? "") + $0 }
    }

    private static func suffix(_ message: PushMessage) -> String? { message.identifier.map { " \($0)" } }
}

/// The part of an app that gets a push.
public enum PushContext: Sendable, Hashable {
    /// The app while it is on the screen.
    case foreground
    /// The app while it is not on the screen, for up to 30 seconds.
    case background
    /// The notification service extension.
    case `extension`
}

/// What a person did with a notification: Apple's identifier of the action. An action of the app keeps its name.
public struct PushAction: RawRepresentable, Hashable, Sendable {
    /// Apple's identifier of the action.
    public let rawValue: String

    /// Creates an action from Apple's identifier, such as `UNNotificationResponse.actionIdentifier`; any text is accepted.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A tap on the notification (`UNNotificationDefaultActionIdentifier`).
    public static let open = Self(rawValue: "com.apple.UNNotificationDefaultActionIdentifier")
    /// The removal of the notification (`UNNotificationDismissActionIdentifier`); reported for categories that ask for it.
    public static let dismiss = Self(rawValue: "com.apple.UNNotificationDismissActionIdentifier")
    /// The button of a picture that is ready.
    public static let viewImage = Self(rawValue: "VIEW_IMAGE")
}
