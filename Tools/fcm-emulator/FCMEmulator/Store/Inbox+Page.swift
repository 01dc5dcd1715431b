import Synchronization

/// Publication of events to the streams of the inbox page.
extension Inbox {
    enum Publishing { case none, now, later }

    /// Maximum number of events a stream may lag behind before it is ended; the page then reconnects and reads a new snapshot.
    private static let streamBacklog = 256
    /// Minimum interval between publications of appended messages; messages that arrive within it are published together.
    static let publishInterval = Duration.milliseconds(50)
    /// More pushes than this at once are published as one snapshot of the newest cards.
    private static let maxCardsAtOnce = 50

    /// Returns a stream that starts with the present cards; nil when there are too many streams or the inbox is closed.
    func subscribe(to registration: String?) -> AsyncStream<Event>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(Self.streamBacklog))
        let id = makeID()
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(id) }
        let isAccepted = state.withLock { state in
            guard !state.isClosed, state.subscribers.count < limits.streams else { return false }
            Self.publish(&state)
            state.subscribers[id] = Subscriber(registration: registration, continuation: continuation)
            continuation.yield(.snapshot(Self.cards(state, registration)))
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
        guard !new.isEmpty, !state.subscribers.isEmpty else { return }
        state.publishedAt = .now
        guard new.count > maxCardsAtOnce else {
            for card in new { tell(&state, .card(card), about: card.received.registration) }
            return
        }
        for subscriber in state.subscribers.values {
            subscriber.continuation.yield(.snapshot(cards(state, subscriber.registration).suffix(maxCardsAtOnce)))
        }
    }

    /// Sends an event to the streams of that registration and of all registrations (nil: to every stream); ends a stream that
    /// lags too far behind.
    static func tell(_ state: inout State, _ event: Event, about registration: String?) {
        for (id, subscriber) in state.subscribers {
            if let wanted = subscriber.registration, let registration, wanted != registration { continue }
            guard case .dropped = subscriber.continuation.yield(event) else { continue }
            state.subscribers[id] = nil
            // In a task, because ending a stream calls `unsubscribe`, which takes the lock that is held here.
            let continuation = subscriber.continuation
            Task { continuation.finish() }
        }
    }
}
