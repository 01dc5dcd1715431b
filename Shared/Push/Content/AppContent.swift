/// The content of a notification from an app's own server: its texts, its data, and how phones show it.
///
/// It travels sealed: ``CustomPush/app``.
public struct AppContent: Codable, Sendable, Equatable {
    /// The app's name for this kind of notification; also Android's notification channel.
    public var kind: String
    /// The title. Title and body are nil for a push of data only, which wakes the app without a visible notification.
    public var title: String?
    /// The text below the title.
    public var body: String?
    /// The app's data.
    public var data: [String: String]
    /// The https URL of a picture.
    public var image: String?
    /// The name of a sound, `default` for the phone's; nil for no sound.
    public var sound: String?
    /// Groups notifications on an iPhone.
    public var thread: String?
    /// A later notification of the same app with the same key replaces this one on the phone.
    public var collapseKey: String?

    /// Whether the phone shows it.
    public var isShown: Bool { title != nil || body != nil }

    /// Describes a content.
    public init(
        kind: String, title: String? = nil, body: String? = nil, data: [String: String] = [:], image: String? = nil,
        sound: String? = nil, thread: String? = nil, collapseKey: String? = nil
    ) {
        self.kind = kind
        self.title = title
        self.body = body
        self.data = data
        self.image = image
        self.sound = sound
        self.thread = thread
        self.collapseKey = collapseKey
    }

    enum CodingKeys: String, CodingKey {
        case kind, title, body, data, image, sound, thread
        case collapseKey = "collapse_key"
    }
}
