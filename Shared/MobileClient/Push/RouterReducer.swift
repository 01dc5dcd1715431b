/// Decides when a tap on a notification is handed to the app.
enum RouterReducer: Reducer {
    /// A tap, and what tells it from another.
    struct Tap: Hashable, Sendable {
        let opening: NotificationRouter.Opening

        /// Equal for one tap that is reported twice. Nil if it cannot be distinguished from another tap on a notification of the same
        /// content.
        var name: String? {
            let payload = opening.message.payload
            guard payload.messageID != nil || payload.deliveredAt != nil else { return nil }
            let date = payload.deliveredAt.map { "\($0)" } ?? ""
            return [payload.messageID ?? "", date, opening.message.identifier ?? "", opening.action.rawValue].joined(separator: " ")
        }
    }

    struct State: Hashable, Sendable {
        /// The number of the app's handler; nil without a handler.
        var handler: Int?
        /// The taps that wait for one, the oldest first.
        var waiting: [Tap] = []
        var known = RecentSet(capacity: 64)
    }

    enum Event: Hashable, Sendable {
        case opened(Tap)
        case handlerSet(Int)
        case handlerRemoved
        case signedOut
    }

    enum Effect: Hashable, Sendable {
        case deliver(Tap, handler: Int)
        case forget(handler: Int)
    }

    /// The most taps that wait.
    static let maxWaiting = 16

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .opened(let tap):
            if let name = tap.name, !state.known.insert(name) { return [] }
            if let handler = state.handler { return [.deliver(tap, handler: handler)] }
            state.waiting = (state.waiting + [tap]).suffix(maxWaiting)
            return []
        case .handlerSet(let number):
            let former = state.handler
            state.handler = number
            let waiting = state.waiting
            state.waiting = []
            return waiting.map { .deliver($0, handler: number) } + (former.map { [.forget(handler: $0)] } ?? [])
        case .handlerRemoved:
            let former = state.handler
            state.handler = nil
            return former.map { [.forget(handler: $0)] } ?? []
        case .signedOut:
            state.waiting = []
            return []
        }
    }
}
