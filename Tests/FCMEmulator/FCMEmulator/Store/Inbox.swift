import FoundationEssentials

/// Everything that was accepted: the whole log for the control API, the cards for the page, and who waits for more.
actor Inbox {
    /// Something the page is told.
    enum Event: Sendable {
        case snapshot([Card])
        case card(Card)
        case cleared
        case heartbeat
    }

    private struct Subscriber {
        let registration: String?
        let continuation: AsyncStream<Event>.Continuation
    }

    private let limits: FCMEmulatorLimits
    private var messages: [ReceivedMessage] = []
    private var cards: [Card] = []
    private var subscribers: [Int: Subscriber] = [:]
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextID = 0
    private var isClosed = false
    /// How many messages a stream may lag behind before it is ended; the page then reconnects and reads afresh.
    private static let streamBacklog = 256

    init(limits: FCMEmulatorLimits) { self.limits = limits }

    // MARK: Writing

    func append(_ message: ReceivedMessage) {
        messages.append(message)
        // In strides, because making room at the front of an array moves all that is behind.
        if messages.count > limits.messages + limits.messages / 8 {
            messages.removeFirst(messages.count - limits.messages)
        }
        var card = Card(message)
        if let index = cards.firstIndex(where: { $0.id == card.id }) {
            card.replaced = cards[index].replaced + 1
            cards.remove(at: index)
        }
        cards.append(card)
        if cards.count > limits.cards { cards.removeFirst(cards.count - limits.cards) }
        publish(.card(card), about: message.registration)
        wakeAll()
    }

    func clear() {
        messages = []
        cards = []
        publish(.cleared, about: nil)
    }

    func heartbeat() { publish(.heartbeat, about: nil) }

    /// Ends every stream and every wait, for good.
    func close() {
        isClosed = true
        for subscriber in subscribers.values { subscriber.continuation.finish() }
        subscribers = [:]
        wakeAll()
    }

    // MARK: Reading

    func messages(to registration: String?) -> [ReceivedMessage] {
        guard let registration else { return messages }
        return messages.filter { $0.registration == registration }
    }

    func cards(of registration: String?) -> [Card] {
        guard let registration else { return cards }
        return cards.filter { $0.received.registration == registration }
    }

    /// The messages to a registration (nil: all), once there are so many, or whatever there is when the time is over.
    func messages(to registration: String?, atLeast count: Int, within patience: Duration) async -> [ReceivedMessage] {
        let deadline = ContinuousClock.now + min(patience, .seconds(limits.waitSeconds))
        while true {
            let found = messages(to: registration)
            if found.count >= count || ContinuousClock.now >= deadline || isClosed || Task.isCancelled { return found }
            if waiters.count >= limits.waiters { return found }
            await change(until: deadline)
        }
    }

    /// A stream that starts with the present cards; nil when there are too many streams.
    func subscribe(to registration: String?) -> AsyncStream<Event>? {
        guard !isClosed, subscribers.count < limits.streams else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(Self.streamBacklog))
        let id = makeID()
        subscribers[id] = Subscriber(registration: registration, continuation: continuation)
        continuation.onTermination = { [weak self] _ in Task { await self?.unsubscribe(id) } }
        continuation.yield(.snapshot(cards(of: registration)))
        return stream
    }

    /// How many streams are open, and how many requests wait for a message.
    var audience: (streams: Int, waiters: Int) { (subscribers.count, waiters.count) }

    private func unsubscribe(_ id: Int) { subscribers[id] = nil }

    private func publish(_ event: Event, about registration: String?) {
        for (id, subscriber) in subscribers {
            if let wanted = subscriber.registration, let registration, wanted != registration { continue }
            if case .dropped = subscriber.continuation.yield(event) {
                subscriber.continuation.finish()
                subscribers[id] = nil
            }
        }
    }

    // MARK: Waiting

    /// Returns at the next message, at the deadline, or when the task is cancelled.
    private func change(until deadline: ContinuousClock.Instant) async {
        let id = makeID()
        let alarm = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            wake(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[id] = $0 }
        } onCancel: {
            alarm.cancel()
        }
        alarm.cancel()
    }

    private func wake(_ id: Int) { waiters.removeValue(forKey: id)?.resume() }

    private func wakeAll() {
        let woken = waiters
        waiters = [:]
        for waiter in woken.values { waiter.resume() }
    }

    private func makeID() -> Int {
        nextID += 1
        return nextID
    }
}
