/// Decides what the client tells the API about the conversation on the screen.
///
/// One request is in flight at a time, and the next request has the state of the screen at that time. So the API gets the changes in their
/// order, and never gets a conversation that was left after it was told that none is shown. The API drops the conversation by itself after
/// ``lease``; while it is on the screen, the client repeats it before that.
enum PresenceReducer: Reducer {
    /// The time for which the API keeps the conversation.
    static let lease = Duration.seconds(45)

    enum Event: Hashable, Sendable {
        /// The screen, the app's state or the network may have changed.
        case changed
        /// The conversation on the screen; nil for none.
        case shown(String?)
        case foreground(Bool)
        case network(isOnline: Bool)
        /// The API knows this installation from now on, or another account is signed in.
        case deviceRegistered
        case answered(String?, Answer)
        case resumed(Wait)
    }

    /// The outcome of a request.
    enum Answer: Hashable, Sendable {
        case accepted
        /// There is no such conversation of this account, or no such installation: a repetition would be refused alike.
        case refused
        /// The outcome is unknown, or a repetition may succeed. The API may have named the time to wait.
        case failed(after: Duration?)
    }

    /// The reason for a wait.
    enum Wait: Hashable, Sendable {
        /// Until the lease is to be renewed.
        case renewal
        /// After a failure.
        case retry(atLeast: Duration?)
        /// Until the API has dropped the conversation that it was told last.
        case lapse

        var kind: Kind {
            switch self {
            case .renewal: .renewal
            case .retry: .retry
            case .lapse: .lapse
            }
        }

        enum Kind: Hashable, Sendable { case renewal, retry, lapse }
    }

    enum Effect: Hashable, Sendable {
        /// Reads the screen, the app's state and the network: an effect, so that the last event has the newest.
        case look
        case send(String?)
        /// Sends ``Event/resumed(_:)`` later, in place of the wait of the same kind.
        case wait(Wait)
        case stopWaiting(Wait.Kind)
    }

    /// The state of the API, as far as it is known.
    enum Told: Hashable, Sendable {
        /// That no conversation is on the screen.
        case none
        case conversation(String)
        /// One or another: an answer was lost.
        case unknown
    }

    struct State: Hashable, Sendable {
        var screen: String?
        var isForeground = true
        var isOnline = true
        var told = Told.none
        /// The request in flight.
        var request: Request?
        var isRenewalDue = false
        /// What keeps from the next request until a wait has ended.
        var pause: Pause?
        /// The conversation that the API has refused. It is not announced again until the screen or the installation changes.
        var refused: String?

        /// The conversation that a person can see now.
        var visible: String? { isForeground ? screen : nil }
    }

    struct Request: Hashable, Sendable { var conversation: String? }

    enum Pause: Hashable, Sendable {
        /// The API was not reached. The wait also ends when the network returns.
        case retry
        /// The API has named a time.
        case told
    }

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        change(&state, event) + next(&state)
    }

    private static func change(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .changed: return [.look]
        case .shown(let conversation):
            if conversation != state.screen { state.refused = nil }
            state.screen = conversation
        case .foreground(let isForeground):
            guard isForeground != state.isForeground else { return [] }
            state.isForeground = isForeground
            state.refused = nil
            // No time passes for an app that is suspended, so it may have missed the end of its lease.
            if isForeground, state.told != .none { state.told = .unknown }
        case .network(let isOnline):
            state.isOnline = isOnline
            guard isOnline, state.pause == .retry else { return [] }
            state.pause = nil
            return [.stopWaiting(.retry)]
        case .deviceRegistered:
            state.refused = nil
            // The API has dropped the presence of the other account's installation.
            if state.told != .none { state.told = .unknown }
        case .answered(let conversation, let answer):
            guard state.request == Request(conversation: conversation) else { return [] }
            state.request = nil
            return finish(&state, conversation, answer)
        case .resumed(.renewal): state.isRenewalDue = true
        case .resumed(.retry): state.pause = nil
        case .resumed(.lapse):
            // A request in flight may make it believe something again.
            if state.request == nil, state.told != .none { state.told = state.visible == nil ? .none : .unknown }
        }
        return []
    }
}
