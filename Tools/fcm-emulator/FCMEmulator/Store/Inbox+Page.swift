import Synchronization

/// Publication of events to the streams of the inbox page.
extension Inbox {
    enum Publishing { case none, now, later }

    /// Maximum number of events a stream may lag behind before it is ended; the page then reconnects and reads a new snapshot.
    private static let streamBacklog = 256
    /// Minimum interval between publications of appended messages; messages that arrive within it are published together.
    static let publishInterval = Duration.milliseconds(50)
    /// More pushes than this at once are published as one snapshot of all cards.
    private static let maxCardsAtOnce = 50

    /// Returns a stream that starts with the present cards; nil when there are too many streams or the inbox is closed.
    func subscribe(to registration: String?) -> AsyncStream<Event>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(Self.streamBacklog))
        let id = makeID()
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(id) }
        let isAccepted = state.withLock { state in
            guard !state.isClosed, state.subscribers.count < limits.streams else { return false }
            Self.publish(&state)
            let board = registration.map { Self.board(of: $0, state) }
            state.subscribers[id] = Subscriber(registration: registration, board: board, continuation: continuation)
            let cards = board?.cards ?? state.board.cards
            continuation.yield(.snapshot(cards, messages: Self.count(state, registration)))
            return true
        }
        if isAccepted { return stream }
        continuation.finish()
        return nil
    }

    private func unsubscribe(_ id: Int) { state.withLock { $0.subscribers[id] = nil } }

    static func schedule(_ state: inout State) -> Publishing {
        guard !state.subscribers.isEmpty, !state.isPublishing else { return .none }
        if let at = state.publishedAt, at.duration(to: .now) < publishInterval {
            state.isPublishing = true
            return .later
        }
        return .now
    }

    func publish() { state.withLock { Self.publish(&$0) } }

    /// Makes cards of the messages that arrived since the last publication, and sends them to the streams.
    static func publish(_ state: inout State) {
        state.isPublishing = false
        let new = state.board.catchUp(state.messages)
        guard !state.subscribers.isEmpty else { return }
        state.publishedAt = .now
        for (id, registration) in state.subscribers.mapValues(\.registration) {
            let last = registration.flatMap { state.newest[$0] }
            let cards = registration == nil ? new : state.subscribers[id]?.board?.catchUp(state.messages, toPhoneOf: last) ?? []
            if cards.count > maxCardsAtOnce {
                let all = state.subscribers[id]?.board?.cards ?? state.board.cards
                tell(id, .snapshot(all, messages: count(state, registration)), &state)
            } else {
                for card in cards { tell(id, .card(card), &state) }
            }
        }
    }

    /// Makes the card of a message that reached its phone late, and sends it to the streams.
    static func publishLate(_ message: ReceivedMessage, _ state: inout State) {
        let card = state.board.add(message)
        for (id, registration) in state.subscribers.mapValues(\.registration) where [nil, message.registration].contains(registration) {
            let own = state.subscribers[id]?.board?.add(message)
            tell(id, .card(own ?? card), &state)
        }
    }

    /// Sends an event to every stream.
    static func tell(_ state: inout State, _ event: Event) {
        for id in state.subscribers.keys { tell(id, event, &state) }
    }

    /// Sends an event to a stream, and ends the stream if it lags too far behind.
    private static func tell(_ id: Int, _ event: Event, _ state: inout State) {
        guard let continuation = state.subscribers[id]?.continuation, case .dropped = continuation.yield(event) else { return }
        state.subscribers[id] = nil
        // In a task, because ending a stream calls `unsubscribe`, which takes the lock that is held here.
        Task { continuation.finish() }
    }
}
