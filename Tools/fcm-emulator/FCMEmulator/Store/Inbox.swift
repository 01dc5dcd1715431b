import FoundationEssentials
import Synchronization

/// The accepted messages: the newest for the control API, the cards for the page, and the requests that wait for more.
final class Inbox: Sendable {
    /// An event on a stream of the page.
    enum Event: Sendable {
        /// The present cards, and the number of messages that they were made of.
        case snapshot([Card], messages: Int)
        case card(Card)
        case cleared
        case mail(ReceivedMail)
        case mailsCleared
        case heartbeat
    }

    struct Subscriber {
        let registration: String?
        /// The cards of the given registration, which may be older than all cards of the common board; nil for all registrations.
        var board: CardBoard?
        let continuation: AsyncStream<Event>.Continuation
    }

    struct Waiter {
        let registration: String?
        /// The condition that ends the wait.
        let goal: Goal
        let continuation: CheckedContinuation<Void, Never>
    }

    struct State {
        var messages: Ring<KeptMessage>
        /// The number of the last message to each registration; each message names the one before it.
        var newest: [String: Int] = [:]
        var board: CardBoard
        var subscribers: [Int: Subscriber] = [:]
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
        var isClosed = false
        /// Time of the last publication of new cards; `isPublishing` is set while the next one is scheduled.
        var publishedAt: ContinuousClock.Instant?
        var isPublishing = false
    }

    let limits: FCMEmulatorLimits
    let state: Mutex<State>

    init(limits: FCMEmulatorLimits) {
        self.limits = limits
        state = Mutex(State(messages: Ring(capacity: limits.messages), board: CardBoard(limit: limits.cards)))
    }

    // MARK: Writing

    /// Adds a message and returns its number; never waits.
    @discardableResult
    func append(_ message: KeptMessage) -> Int {
        let (number, woken, publishing) = state.withLock { state -> (Int, [Waiter], Publishing) in
            let number = Self.add(message, to: &state)
            return (number, Self.takeWaiters(&state, for: message.registration), Self.schedule(&state))
        }
        for waiter in woken { waiter.continuation.resume() }
        switch publishing {
        case .none: break
        case .now: publish()
        case .later:
            Task {
                try? await Task.sleep(for: Self.publishInterval)
                publish()
            }
        }
        return number
    }

    private static func add(_ message: KeptMessage, to state: inout State) -> Int {
        let number = state.messages.end
        var message = message
        if let registration = message.registration {
            message.previous = state.newest.updateValue(number, forKey: registration)
        }
        state.messages.append(message)
        // Registrations without kept messages are removed only when there are many entries, because each removal scans all of them.
        if state.newest.count > 2 * state.messages.capacity {
            let start = state.messages.start
            state.newest = state.newest.filter { $0.value >= start }
        }
        return number
    }

    /// Marks messages as delivered to a phone that was offline when they were sent, and shows their cards.
    func arrive(_ numbers: [Int]) {
        state.withLock { state in
            Self.publish(&state)
            for number in numbers {
                guard var message = state.messages[number] else { continue }
                message.isOnPhone = true
                state.messages[number] = message
                Self.publishLate(message.received, &state)
            }
        }
    }

    func clear() {
        publish()
        state.withLock { state in
            state.messages.removeAll()
            state.newest = [:]
            state.board.clear(state.messages)
            for id in state.subscribers.keys { state.subscribers[id]?.board?.clear(state.messages) }
            Self.tell(&state, .cleared)
        }
    }

    /// Sends an event to every stream.
    func tell(_ event: Event) { state.withLock { Self.tell(&$0, event) } }

    /// Ends every stream and every wait, and refuses later ones.
    func close() {
        publish()
        let (subscribers, waiters) = state.withLock { state in
            state.isClosed = true
            defer { (state.subscribers, state.waiters) = ([:], [:]) }
            return (state.subscribers, state.waiters)
        }
        for subscriber in subscribers.values { subscriber.continuation.finish() }
        for waiter in waiters.values { waiter.continuation.resume() }
    }

    // MARK: Reading

    func messages(to registration: String?) -> [ReceivedMessage] {
        state.withLock { Self.kept($0, registration) }.map(\.received)
    }

    func cards(of registration: String?) -> [Card] {
        state.withLock { state in
            Self.publish(&state)
            return registration.map { Self.board(of: $0, state).cards } ?? state.board.cards
        }
    }

    /// The newest message to each registration, by its number.
    var newest: [String: Int] { state.withLock { $0.newest } }

    /// The message of that number; nil when it is not kept.
    func message(_ number: Int) -> ReceivedMessage? { state.withLock { $0.messages[number] }?.received }

    private static func kept(_ state: State, _ registration: String?) -> [KeptMessage] {
        guard let registration else { return Array(state.messages.suffix()) }
        return state.messages.chain(from: state.newest[registration]).reversed()
    }

    /// Makes the cards of one registration, of all its messages that are kept.
    static func board(of registration: String, _ state: State) -> CardBoard {
        var board = CardBoard(limit: state.board.limit)
        _ = board.catchUp(state.messages, toPhoneOf: state.newest[registration])
        return board
    }

    static func count(_ state: State, _ registration: String?) -> Int {
        registration == nil ? state.messages.count : kept(state, registration).count
    }

    /// Returns the messages to a registration (nil: all), once there are `count` of them or the time is over.
    func messages(to registration: String?, atLeast count: Int, within patience: Duration) async -> [ReceivedMessage] {
        let deadline = ContinuousClock.now + min(patience, .seconds(limits.waitSeconds))
        while ContinuousClock.now < deadline, await change(registration, .kept(count), until: deadline) {}
        return messages(to: registration)
    }

    /// Number of open streams, and of requests that wait for a message.
    var audience: (streams: Int, waiters: Int) { state.withLock { ($0.subscribers.count, $0.waiters.count) } }
}
