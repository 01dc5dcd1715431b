internal import Foundation

/// Leads a tap on a notification to its place in the app. Taps that arrive before the app has set its handler (a start by the tap) are
/// kept.
///
/// Each tap is delivered once and in order, even when the system or the app reports it twice. Taps that the app has not taken end with the
/// process; at most the newest 16 are kept.
public final class NotificationRouter: Sendable {
    /// A place in the app.
    public enum Route: Sendable, Hashable {
        case job(id: String)
        case ekyc(sessionID: String)
        case conversation(id: String)
        case event(id: String)
        /// The person is no member yet: they accept first.
        case invitation(topic: String)
        /// The person types the letters that the new device shows, or denies its sign-in.
        case signInConfirmation(sessionID: String)
        case account(PushMessage.Alert)
        case app(PushMessage.AppPush)
        case unknown(PushMessage)

        /// The place that a push is about.
        public init(_ message: PushMessage) {
            self =
                switch message.kind {
                case .job(let job): .job(id: job.id)
                case .ekyc(let result): .ekyc(sessionID: result.sessionID)
                case .newPhotos(let eventID): .event(id: eventID)
                case .chatMessage(let message): .conversation(id: message.conversationID)
                case .invitation(let topic): .invitation(topic: topic)
                case .signInConfirmation(let id): .signInConfirmation(sessionID: id)
                case .accountAlert(let alert): .account(alert)
                case .app(let push): .app(push)
                case .possessionCheck, .badge, .unknown: .unknown(message)
                }
        }
    }

    /// A tap, for the app.
    public struct Opening: Sendable, Hashable {
        /// The place in the app that the tap leads to.
        public let route: Route
        /// The tap itself, or the button of the app's category.
        public let action: PushAction
        /// The push that was tapped.
        public let message: PushMessage
    }

    /// Takes the app to a route.
    public typealias Handler = @Sendable (Opening) async -> Void

    private let runner: SynchronousRunner<RouterReducer>
    private let handlers: Locked<Handlers>
    private let deliveries: AsyncStream<(Handler, Opening)>.Continuation

    /// Creates a router without a handler, which keeps taps until it has one.
    public init() {
        let (stream, continuation) = AsyncStream.makeStream(of: (Handler, Opening).self)
        deliveries = continuation
        let handlers = Locked(Handlers())
        self.handlers = handlers
        runner = SynchronousRunner(RouterReducer.State()) { effect, _ in
            switch effect {
            case .deliver(let tap, let handler):
                if let run = handlers.withLock({ $0.all[handler] }) { continuation.yield((run, tap.opening)) }
            case .forget(let handler): handlers.withLock { $0.all[handler] = nil }
            }
            return []
        }
        // The handlers run one after the other, outside of the runner: a handler may report another tap.
        Task { for await (run, opening) in stream { await run(opening) } }
    }

    deinit { deliveries.finish() }

    /// Waits until the taps that were handed over before have been taken.
    func idle() async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let mark = PushMessage(PushPayload(values: [:]))
        deliveries.yield(({ _ in end.yield() }, Opening(route: .unknown(mark), action: .open, message: mark)))
        for await _ in ends { break }
    }

    /// Says where taps go from now on; nil when the app has no place for them at the moment. The taps that wait are delivered at once.
    public func setHandler(_ handler: Handler?) {
        guard let handler else { return runner.send(.handlerRemoved) }
        let number = handlers.withLock { handlers in
            handlers.last += 1
            handlers.all[handlers.last] = handler
            return handlers.last
        }
        runner.send(.handlerSet(number))
    }

    /// Reports a tap.
    func open(_ message: PushMessage, action: PushAction) {
        let opening = Opening(route: Route(message), action: action, message: message)
        runner.send(.opened(RouterReducer.Tap(opening: opening)))
    }

    /// Drops the waiting taps, because the person signs out.
    func signedOut() { runner.send(.signedOut) }

    /// The handlers by their numbers, and the last number.
    private struct Handlers {
        var last = 0
        var all: [Int: Handler] = [:]
    }
}
