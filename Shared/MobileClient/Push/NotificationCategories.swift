/// The categories of notifications that this backend sends, in types of this module.
public struct NotificationCategories: Sendable, Hashable {
    /// A category and its buttons.
    public struct Category: Sendable, Hashable {
        /// The name with which a push selects the category (`category` in `aps`).
        public let identifier: String
        /// The buttons, each of which opens the app.
        public let actions: [Action]
    }

    /// A button.
    public struct Action: Sendable, Hashable {
        /// The action that a tap on the button is reported as.
        public let action: PushAction
        /// The title of the button.
        public let title: String
    }

    /// The category of a picture that is ready.
    public static let imageComplete = "IMAGE_COMPLETE"

    /// All categories of this backend, to register at the system's notification centre.
    public let all: [Category]

    /// - Parameter viewImage: The title of the button for a completed picture, in the person's language.
    public init(viewImage: String = "View image") {
        all = [Category(identifier: Self.imageComplete, actions: [Action(action: .viewImage, title: viewImage)])]
    }

    /// Returns the categories that an app has not registered yet: its own category of the same name stays, and so do all others.
    public func missing(from registered: Set<String>) -> [Category] { all.filter { !registered.contains($0.identifier) } }
}
