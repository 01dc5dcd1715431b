internal import Foundation

/// Takes the pushes of an app from all places where the system reports them, and returns the answers that the system needs.
///
/// It runs the handlers of the app's parts once for each push, decides what is shown in the foreground, routes taps (``router``), keeps the
/// number on the icon (``badge``), and reports to the API which pushes were delivered, opened, dismissed and suppressed.
public actor PushClient {
    /// The longest time that the system waits for the handlers of a push in the background.
    public static let backgroundLimit = Duration.seconds(25)

    /// How the client has handled a push that arrived.
    public struct Reception: Sendable, Hashable {
        /// The presentation by the system; it only matters in the foreground.
        public let presentation: ForegroundPolicy.Presentation
        /// Whether the push was new to this process, and its handlers ran.
        public let isNew: Bool
    }

    /// Where taps lead.
    public nonisolated let router = NotificationRouter()
    /// The number on the icon.
    public nonisolated let badge: BadgeCounter

    let listeners = Locked<[UUID: AsyncStream<PushMessage>.Continuation]>([:])
    let inbox = SynchronousRunner<PushInbox>(PushInbox.State())
    let receipts: ReceiptQueue
    let handlers: PushHandlers
    let time: TimeSource
    let onShown: @Sendable (PushMessage) async -> Void
    private let numbers: AsyncStream<Int>.Continuation

    /// - Parameters:
    ///   - folder: For receipts: ``ReceiptFiles/folderName`` in the client's folder.
    ///   - onShown: The client calls it with each push that the system shows, before its handlers.
    init(
        folder: URL, sender: any APISender, handlers: PushHandlers, time: TimeSource = .system,
        onShown: @escaping @Sendable (PushMessage) async -> Void = { _ in }
    ) {
        let (stream, numbers) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        self.numbers = numbers
        badge = BadgeCounter { numbers.yield($0) }
        receipts = ReceiptQueue(folder: folder, sender: sender, time: time)
        self.handlers = handlers
        self.onShown = onShown
        self.time = time
        Task { for await number in stream { await handlers.badge(number) } }
    }

    deinit {
        numbers.finish()
        listeners.withLock { $0 }.values.forEach { $0.finish() }
    }

    /// The conversations on the screen: their pushes are not shown. Takes effect at once, from any thread.
    public nonisolated var visibleConversations: Set<String> {
        get { inbox.state.visible }
        set { inbox.send(.visible(newValue)) }
    }

    /// Takes a push that arrived. In the background it returns when the handlers have ended, after 25 seconds at the latest.
    @discardableResult
    public func received(_ payload: PushPayload, in context: PushContext) async -> Reception {
        let message = PushMessage(payload)
        var presentation = ForegroundPolicy.Presentation.nothing
        let effects = inbox.effects(of: .arrived(message, context))
        for case .present(_, let proposed, let isVisible) in effects {
            presentation = isVisible ? .nothing : handlers.presentation(message, proposed)
        }
        // The system sets the icon to a push's number by itself: an older one must not get there.
        if effects.contains(.badge(message)), !badge.received(message) { presentation.badge = false }
        // In the background the system shows each push that has a text.
        let isShown = context == .foreground ? presentation.banner || presentation.list : context == .background && message.hasAlert
        let work = perform(effects, shown: isShown ? message : nil)
        if context != .foreground { await withLimit(work) }
        return Reception(presentation: presentation, isNew: effects.contains(.handle(message)))
    }

    /// Takes a tap, a button, or the removal of a notification. Returns when that is stored; the handlers run on.
    public func opened(_ payload: PushPayload, action: PushAction = .open) async {
        let message = PushMessage(payload)
        let effects = inbox.effects(of: .opened(message, action))
        for case .route(_, let action) in effects { router.open(message, action: action) }
        for case .record(_, let event) in effects { await record(message, event) }
        _ = perform(effects.filter { if case .record = $0 { false } else { true } })
    }

    /// The pushes that are new to this process, from now on, each once: for a screen that shows their subjects. The sequence does not
    /// finish.
    public nonisolated func messages() -> AsyncStream<PushMessage> {
        let (stream, continuation) = AsyncStream.makeStream(of: PushMessage.self, bufferingPolicy: .bufferingNewest(64))
        let id = UUID()
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [listeners] _ in listeners.withLock { $0[id] = nil } }
        return stream
    }

    /// Sends the receipts that wait: at a start, when the app comes to the foreground, and after a sign-in.
    public func flush() async { await receipts.flush() }

    /// Removes the data of the person who signs out, and clears the icon.
    public func signedOut() async {
        for effect in inbox.effects(of: .signedOut) { _ = perform([effect]) }
        router.signedOut()
        badge.signedOut()
        await receipts.signedOut()
    }
}
