public import Foundation

/// Loads the picture of a notification for a notification service extension.
///
/// The notification is handed back exactly once: with the picture, or with its text alone after 25 seconds, at the end that the system
/// sets, or when there is no usable picture. Pictures are written to files and not held in memory, because an extension has only 24 MB.
public final class NotificationContentLoader: Sendable {
    /// A picture for the system.
    public struct Attachment: Sendable, Hashable {
        /// The file with the picture, whose name ends in the type's extension.
        public let file: URL
        /// The type of the picture, by its first bytes.
        public let type: AttachmentType
    }

    /// Takes the notification back: with the picture, or nil for the text alone. Returns whether the system has taken the file; otherwise
    /// the loader removes it.
    public typealias Delivery = @Sendable (Attachment?) -> Bool

    /// The time for loading; the system allows about 30 seconds.
    public static let limit = Duration.seconds(25)
    /// The age from which a file counts as a leftover of an ended process.
    private static let maxFileAge = Duration.seconds(3_600)

    private let context: LoadContext
    private let runner: SynchronousRunner<ContentLoaderReducer>

    /// - Parameters:
    ///   - message: The push.
    ///   - folder: For the files, of this extension alone.
    ///   - transport: Loads the pictures.
    ///   - hosts: See ``AttachmentPlan/init(_:hosts:)``.
    ///   - time: The time of day and the waits.
    ///   - deliver: Called once, on any thread, within ``start()``, within ``expire()``, or between the two. It must return soon.
    public init(
        _ message: PushMessage, folder: URL, transport: any HTTPTransport, hosts: Set<String>? = nil, time: TimeSource = .system,
        deliver: @escaping Delivery
    ) {
        let plan = AttachmentPlan(message, hosts: hosts)
        let context = LoadContext(urls: plan.candidates, folder: folder, transport: transport, time: time)
        self.context = context
        runner = SynchronousRunner(ContentLoaderReducer.State(candidates: plan.candidates.count)) { effect, runner in
            context.perform(effect, runner, deliver: deliver)
        }
    }

    /// Begins, and removes the files that former processes have left.
    public func start() {
        SystemFiles().removeFiles(of: context.folder, olderThan: Self.maxFileAge, at: context.time.now())
        runner.send(.started)
    }

    /// Hands the notification back at once, if that has not happened: for `serviceExtensionTimeWillExpire`. Returns when it has been done.
    public func expire() { runner.send(.timeUp) }
}
