public import Foundation

/// The part of a notification service extension that Apple's types are not needed for: stores that the push was delivered, and loads its
/// picture.
public final class PushExtension: Sendable {
    private let loaders = Locked<[NotificationContentLoader]>([])
    private let files: ReceiptFiles
    private let pictures: URL
    private let transport: any HTTPTransport
    private let hosts: Set<String>?
    private let time: TimeSource

    /// - Parameters:
    ///   - folder: The folder of the app's client (``ClientConfiguration/folder``), in a container of the app group: the app sends the
    ///     receipts.
    ///   - transport: Loads the pictures.
    ///   - hosts: See ``AttachmentPlan/init(_:hosts:)``.
    ///   - time: The time of day and the waits.
    public init(folder: URL, transport: any HTTPTransport, hosts: Set<String>? = nil, time: TimeSource = .system) {
        files = ReceiptFiles(folder: folder.appendingPathComponent(ReceiptFiles.folderName))
        pictures = folder.appendingPathComponent("pictures")
        self.transport = transport
        self.hosts = hosts
        self.time = time
    }

    /// Takes a push, and calls `deliver` once, with its picture or with nil for the text alone.
    public func receive(_ payload: PushPayload, deliver: @escaping NotificationContentLoader.Delivery) {
        let message = PushMessage(payload)
        for case .record(_, let event) in PushInbox.extensionEffects(of: message) {
            // Without space the notification is shown all the same.
            if let receipt = PushReceipt(message, event, at: time.now().timeIntervalSince1970) { try? files.add(receipt) }
        }
        let loader = NotificationContentLoader(
            message, folder: pictures, transport: transport, hosts: hosts, time: time, deliver: deliver)
        // A process may get several notifications; earlier ones have been delivered, or end with this one.
        loaders.withLock { $0 = $0.suffix(7) + [loader] }
        loader.start()
    }

    /// Hands back at once the notifications that were not handed back yet: for `serviceExtensionTimeWillExpire`. Returns when that is done.
    public func expire() {
        loaders.withLock { $0 }.forEach { $0.expire() }
    }
}

extension PushInbox {
    /// The handling of a push in an extension. It has no state, because its process may end at any time.
    static func extensionEffects(of message: PushMessage) -> [Effect] {
        var state = State()
        return reduce(&state, .arrived(message, .extension))
    }
}
