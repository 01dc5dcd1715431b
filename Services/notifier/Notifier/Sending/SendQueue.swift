internal import DequeModule
internal import FoundationEssentials
internal import Storage
internal import Synchronization
internal import WireFormat

/// The pushes that are claimed and wait for their turn: urgent before normal before bulk, and never more on their way
/// than FCM takes well.
///
/// It holds so few that none waits for long: what is claimed here is kept from other senders.
final class SendQueue: Sendable {
    /// With so many pushes of a lane waiting here, or being claimed, no further batch is claimed.
    static let waitingMax = 1000

    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var lanes: [Lane: Deque<Push>] = [:]
        var limit: InFlightLimit
        var inFlight = 0
        var dispatcher: Waiter?
        var hasNews = false
        /// How many pushes of a lane are being claimed by those who were given room.
        var expected: [Lane: Int] = [:]
        /// Those who wait for room, by lane, and for how many pushes.
        var roomWaiters: [Lane: Deque<(waiter: Waiter, count: Int)>] = [:]
        var isClosed = false

        var isEmpty: Bool { lanes.values.allSatisfy(\.isEmpty) }

        mutating func takeDispatcher() -> Waiter? {
            defer { dispatcher = nil }
            if dispatcher == nil { hasNews = true }
            return dispatcher
        }
    }

    private let state: Mutex<State>
    private let quota: Quota

    init(inFlightMax: Int, quota: Quota) {
        state = Mutex(State(limit: InFlightLimit(max: inFlightMax)))
        self.quota = quota
        quota.whenGranted { [weak self] in self?.wake() }
    }

    // MARK: Intake

    /// Waits until a lane has room for another batch, and keeps it until the batch is added.
    ///
    /// - Parameter count: The most pushes that the batch may have.
    func waitForRoom(_ lane: Lane, for count: Int) async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state -> Bool in
                if !state.isClosed, !hasRoom(lane, state) {
                    state.roomWaiters[lane, default: []].append((waiter: continuation, count: count))
                    return true
                }
                state.expected[lane, default: 0] += count
                return false
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Adds a batch of one lane, for which room was kept; an empty one gives the room back.
    func add(_ pushes: [Push], to lane: Lane, expected count: Int) {
        let (dispatcher, room) = state.withLock { state -> (Waiter?, Waiter?) in
            state.expected[lane, default: 0] -= count
            state.lanes[lane, default: []].append(contentsOf: pushes)
            return (pushes.isEmpty ? nil : state.takeDispatcher(), nextForRoom(lane, &state))
        }
        dispatcher?.resume()
        room?.resume()
    }

    private func hasRoom(_ lane: Lane, _ state: State) -> Bool {
        state.lanes[lane, default: []].count + state.expected[lane, default: 0] < Self.waitingMax
    }

    /// Keeps room for the one who has waited for it longest, if there is any.
    private func nextForRoom(_ lane: Lane, _ state: inout State) -> Waiter? {
        guard hasRoom(lane, state), let first = state.roomWaiters[lane]?.popFirst() else { return nil }
        state.expected[lane, default: 0] += first.count
        return first.waiter
    }

    /// Ends the sending: lets whoever waits for room go, and returns what has not been sent.
    func close() -> [Push] {
        let (rest, waiters) = state.withLock { state -> ([Push], [Waiter]) in
            state.isClosed = true
            let waiters = state.roomWaiters.values.flatMap { $0.map { $0.waiter } } + (state.takeDispatcher().map { [$0] } ?? [])
            let rest = state.lanes.values.flatMap { $0 }
            (state.roomWaiters, state.lanes) = ([:], [:])
            return (rest, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return rest
    }

    // MARK: Dispatch

    /// Gives the next push, which is on its way from now on; nil when the queue is closed and empty.
    func next() async -> Push? {
        while true {
            let (push, room, isOver) = state.withLock { state -> (Push?, Waiter?, Bool) in
                state.hasNews = false
                let push = takeNext(&state)
                let lane = push?.delivery.notification.lane
                return (push, lane.flatMap { nextForRoom($0, &state) }, state.isClosed && state.isEmpty)
            }
            room?.resume()
            if let push { return push }
            if isOver { return nil }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    if state.hasNews { return false }
                    state.dispatcher = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    private func takeNext(_ state: inout State) -> Push? {
        guard !state.isEmpty else { return nil }
        guard state.inFlight < state.limit.count else {
            state.limit.noteFull()
            return nil
        }
        for lane in [Lane.urgent, .normal, .bulk] where !state.lanes[lane, default: []].isEmpty {
            guard quota.take(lane) else { continue }
            state.inFlight += 1
            return state.lanes[lane]?.popFirst()
        }
        return nil
    }

    /// What the end of a send says about the pace.
    enum Pace {
        /// FCM answered after that time.
        case answered(Duration)
        /// It wants less at once, or took a connection away.
        case pushedBack
        /// Sending begins again after a time when nothing was sent.
        case restarted
        /// Nothing.
        case unknown
    }

    /// A push is not on its way any more.
    func ended(_ pace: Pace) {
        let dispatcher = state.withLock { state -> Waiter? in
            state.inFlight -= 1
            switch pace {
            case .answered(let time): state.limit.answered(in: time)
            case .pushedBack: state.limit.pushedBack(at: .now)
            case .restarted: state.limit.restart()
            case .unknown: break
            }
            return state.isEmpty ? nil : state.takeDispatcher()
        }
        dispatcher?.resume()
    }

    // MARK: Figures

    /// How much waits here, and is on its way.
    struct Figures {
        /// By lane: how many, and when the first in line was addressed.
        var waiting: [Lane: (count: Int, since: Date?)] = [:]
        var inFlight: Int
        var inFlightLimit: Int
    }

    /// How much waits here, and is on its way, now.
    var figures: Figures {
        state.withLock { state in
            var figures = Figures(inFlight: state.inFlight, inFlightLimit: state.limit.count)
            for (lane, pushes) in state.lanes {
                figures.waiting[lane] = (pushes.count, pushes.first?.delivery.createdAt)
            }
            return figures
        }
    }

    /// Whether there is leave to send again.
    private func wake() {
        state.withLock { $0.takeDispatcher() }?.resume()
    }
}
