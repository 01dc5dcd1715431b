internal import DequeModule
internal import FoundationEssentials
internal import ServiceLifecycle
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
    /// So many urgent pushes, at most, may be on their way beyond what may be in all: pushes of other lanes that hang, and have made that
    /// few, do not hold them up.
    private static let urgentReserveMax = 32
    /// The most pushes that are taken at once: one that is urgent waits for no more than these to be sent.
    static let batchMax = 64

    private struct State {
        var lanes: [Lane: Deque<Push>] = [:]
        var limit: InFlightLimit
        var inFlight = 0
        var bulkPace = BulkPace()
        /// Whether bulk waits, and is woken when its pause is over.
        var isBulkPausing = false
        /// How many pushes of a lane are being claimed by those who were given room.
        var expected: [Lane: Int] = [:]
        /// The waits for room, by lane, the longest first.
        var roomWaiters: [Lane: Deque<RoomWaiter>] = [:]
        var isClosed = false

        var isEmpty: Bool { lanes.values.allSatisfy(\.isEmpty) }
    }

    private let state: Mutex<State>
    /// Less than a quarter of what may be on its way: so many more streams the connections have.
    private let urgentReserve: Int
    private let quota: Quota
    private let news: Bell

    /// - Parameter news: Rung whenever there may be a push to send, or the end has come.
    init(inFlightMax: Int, quota: Quota, news: Bell) {
        state = Mutex(State(limit: InFlightLimit(max: inFlightMax)))
        urgentReserve = min(Self.urgentReserveMax, inFlightMax / 4)
        self.quota = quota
        self.news = news
        quota.whenGranted { news.ring() }
    }

    // MARK: Intake

    /// Waits until a lane has room for another batch, and keeps it until the batch is added.
    ///
    /// A lane that FCM drains slowly may have no room for minutes, so the wait is bounded; a cancellation, a graceful stop and
    /// ``close()`` end it at once.
    ///
    /// - Parameters:
    ///   - count: The most pushes that the batch may have.
    ///   - longest: How long to wait at most.
    /// - Returns: Whether room is kept: then ``add(_:to:expected:)`` has to be called, and otherwise not.
    func waitForRoom(_ lane: Lane, for count: Int, upTo longest: Duration) async -> Bool {
        let waiter = RoomWaiter(count: count)
        let known = state.withLock { state -> Bool? in
            if state.isClosed { return false }
            if hasRoom(lane, state) {
                state.expected[lane, default: 0] += count
                return true
            }
            state.roomWaiters[lane, default: []].append(waiter)
            return nil
        }
        if let known { return known }
        let timer = Task {
            try? await Task.sleep(for: longest)
            giveUp(waiter, lane)
        }
        defer { timer.cancel() }
        return await withTaskCancellationOrGracefulShutdownHandler {
            await waiter.wait()
        } onCancelOrGracefulShutdown: {
            self.giveUp(waiter, lane)
        }
    }

    private func giveUp(_ waiter: RoomWaiter, _ lane: Lane) {
        guard waiter.end(hasRoom: false) else { return }
        state.withLock { state in state.roomWaiters[lane]?.removeAll { $0 === waiter } }
    }

    /// Adds a batch of one lane, for which room was kept; an empty one gives the room back.
    func add(_ pushes: [Push], to lane: Lane, expected count: Int) {
        state.withLock { state in
            state.expected[lane, default: 0] -= count
            state.lanes[lane, default: []].append(contentsOf: pushes)
            if lane == .urgent, !pushes.isEmpty { state.bulkPace.urgentCame(at: .now) }
            giveRoom(lane, &state)
        }
        if !pushes.isEmpty { news.ring() }
    }

    private func hasRoom(_ lane: Lane, _ state: State) -> Bool {
        state.lanes[lane, default: []].count + state.expected[lane, default: 0] < Self.waitingMax
    }

    /// Keeps room, as far as there is any, for those who have waited for it longest.
    private func giveRoom(_ lane: Lane, _ state: inout State) {
        while hasRoom(lane, state), let first = state.roomWaiters[lane]?.popFirst() {
            // One that has just given up takes none.
            if first.end(hasRoom: true) { state.expected[lane, default: 0] += first.count }
        }
    }

    /// Ends the sending and every wait for room, and returns what has not been sent.
    func close() -> [Push] {
        let (rest, waiters) = state.withLock { state -> ([Push], [RoomWaiter]) in
            state.isClosed = true
            let waiters = state.roomWaiters.values.flatMap { $0 }
            let rest = state.lanes.values.flatMap { $0 }
            (state.roomWaiters, state.lanes) = ([:], [:])
            return (rest, waiters)
        }
        news.ring()
        for waiter in waiters { waiter.end(hasRoom: false) }
        return rest
    }

    // MARK: Dispatch

    /// Gives the pushes that may go now, the most urgent first; they are on their way from now on. None when there is nothing to
    /// send, or too much on its way, or no leave.
    func next() -> [Push] {
        let (pushes, mustWake) = state.withLock { state -> ([Push], Bool) in
            var pushes: [Push] = []
            for lane in [Lane.urgent, .normal, .bulk] {
                guard let waiting = state.lanes[lane]?.count, waiting > 0 else { continue }
                let room = state.limit.count + (lane == .urgent ? urgentReserve : 0) - state.inFlight
                let count = min(room, Self.batchMax - pushes.count, waiting)
                // A lane without room says nothing of the next.
                if count <= 0 { continue }
                if lane == .bulk, let wait = state.bulkPace.wait(inFlight: state.inFlight, limit: state.limit.count, at: .now) {
                    if wait == .room { state.limit.noteFull() }
                    defer { state.isBulkPausing = true }
                    return (pushes, !state.isBulkPausing)
                }
                let granted = quota.take(count, lane)
                guard granted > 0 else { continue }
                pushes += state.lanes[lane, default: []].prefix(granted)
                state.lanes[lane, default: []].removeFirst(granted)
                state.inFlight += granted
                if lane == .bulk { state.bulkPace.bulkLeft(at: .now) }
                giveRoom(lane, &state)
            }
            if state.inFlight >= state.limit.count, !state.isEmpty { state.limit.noteFull() }
            return (pushes, false)
        }
        if mustWake { wakeAfterPause() }
        return pushes
    }

    private func wakeAfterPause() {
        Task {
            try? await Task.sleep(for: BulkPace.pause)
            state.withLock { $0.isBulkPausing = false }
            news.ring()
        }
    }

    /// Whether there will be nothing more to send, and nothing is on its way.
    var isOver: Bool { state.withLock { $0.isClosed && $0.isEmpty && $0.inFlight == 0 } }

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

    /// Some pushes are not on their way any more.
    func ended(_ paces: [Pace]) {
        if paces.isEmpty { return }
        state.withLock { state in
            state.inFlight -= paces.count
            for pace in paces {
                switch pace {
                case .answered(let time): state.limit.answered(in: time)
                case .pushedBack: state.limit.pushedBack(at: .now)
                case .restarted: state.limit.restart()
                case .unknown: break
                }
            }
        }
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
}
