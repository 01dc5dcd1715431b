internal import AsyncPrimitives
internal import DequeModule
internal import FoundationEssentials
internal import Push
internal import ServiceLifecycle
internal import Synchronization
internal import WireFormat

/// The queue of claimed pushes: releases urgent before normal before bulk pushes, up to the in-flight limit.
///
/// It is short, so that no push waits for long: other senders cannot claim what is queued here.
final class SendQueue: Sendable {
    /// The number of pushes of a lane, queued or being claimed, from which no further batch is claimed.
    static let maxWaiting = 1000
    /// The most urgent pushes in flight beyond the in-flight limit, so that pushes of other lanes that hang, and have lowered the
    /// limit, do not block them.
    private static let maxUrgentReserve = 32
    /// The most pushes released at once: an urgent push waits for no more than these to be sent.
    static let maxBatch = 64

    private struct State {
        var lanes: [Lane: Deque<QueuedPush>] = [:]
        var limit: InFlightLimit
        var inFlight = 0
        var bulkPace = BulkPace()
        /// Whether bulk waits for the end of its pause.
        var isBulkPausing = false
        /// The room reserved for claims under way, by lane, in pushes.
        var expected: [Lane: Int] = [:]
        /// The waits for room by lane, the longest first.
        var roomWaiters: [Lane: Deque<RoomWaiter>] = [:]
        var isClosed = false

        var isEmpty: Bool { lanes.values.allSatisfy(\.isEmpty) }
    }

    private let state: Mutex<State>
    /// At most a quarter of the highest in-flight limit: the connections have that many more streams.
    private let urgentReserve: Int
    private let quota: Quota
    private let wakeUp: AsyncSignal
    private let clock: any MonotonicClock

    /// - Parameter wakeUp: Signalled whenever there may be a push to send, and when the queue is closed.
    init(maxInFlight: Int, quota: Quota, wakeUp: AsyncSignal, clock: any MonotonicClock = ContinuousClock()) {
        state = Mutex(State(limit: InFlightLimit(max: maxInFlight)))
        urgentReserve = min(Self.maxUrgentReserve, maxInFlight / 4)
        self.quota = quota
        self.wakeUp = wakeUp
        self.clock = clock
        quota.whenGranted { wakeUp.signal() }
    }

    // MARK: Intake

    /// Waits until a lane has room for another batch, and reserves the room until the batch is added.
    ///
    /// A lane that FCM drains slowly may have no room for minutes, so the wait is bounded; a cancellation, a graceful stop and
    /// ``close()`` end it at once.
    ///
    /// - Parameters:
    ///   - count: The most pushes that the batch may have.
    ///   - longest: The longest wait.
    /// - Returns: Whether room is reserved: only then ``add(_:to:expected:)`` has to be called.
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
        let end = clock.now + longest
        let timer = Task {
            try? await clock.sleep(until: end, tolerance: nil)
            abandon(waiter, lane)
        }
        defer { timer.cancel() }
        return await withTaskCancellationOrGracefulShutdownHandler {
            await waiter.hasRoom.wait()
        } onCancelOrGracefulShutdown: {
            self.abandon(waiter, lane)
        }
    }

    private func abandon(_ waiter: RoomWaiter, _ lane: Lane) {
        guard waiter.hasRoom.complete(false) else { return }
        state.withLock { state in state.roomWaiters[lane]?.removeAll { $0 === waiter } }
    }

    /// Adds a batch of one lane for which room was reserved; an empty batch releases the room.
    func add(_ pushes: [QueuedPush], to lane: Lane, expected count: Int) {
        state.withLock { state in
            state.expected[lane, default: 0] -= count
            state.lanes[lane, default: []].append(contentsOf: pushes)
            if lane == .urgent, !pushes.isEmpty { state.bulkPace.recordUrgent(at: clock.now) }
            grantRoom(lane, &state)
        }
        if !pushes.isEmpty { wakeUp.signal() }
    }

    private func hasRoom(_ lane: Lane, _ state: State) -> Bool {
        state.lanes[lane, default: []].count + state.expected[lane, default: 0] < Self.maxWaiting
    }

    /// Reserves the room there is for the longest waits.
    private func grantRoom(_ lane: Lane, _ state: inout State) {
        while hasRoom(lane, state), let first = state.roomWaiters[lane]?.popFirst() {
            // A wait that has just been abandoned takes no room.
            if first.hasRoom.complete(true) { state.expected[lane, default: 0] += first.count }
        }
    }

    /// Closes the queue, ends every wait for room, and returns the pushes that have not been sent.
    func close() -> [QueuedPush] {
        let (rest, waiters) = state.withLock { state -> ([QueuedPush], [RoomWaiter]) in
            state.isClosed = true
            let waiters = state.roomWaiters.values.flatMap { $0 }
            let rest = state.lanes.values.flatMap { $0 }
            (state.roomWaiters, state.lanes) = ([:], [:])
            return (rest, waiters)
        }
        wakeUp.signal()
        for waiter in waiters { waiter.hasRoom.complete(false) }
        return rest
    }

    // MARK: Dispatch

    /// Returns the pushes that may be sent now, the most urgent first, and counts them as in flight. Empty when nothing is queued, the
    /// in-flight limit is reached, or no quota is left.
    func next() -> [QueuedPush] {
        let (pushes, mustWake) = state.withLock { state -> ([QueuedPush], Bool) in
            var pushes: [QueuedPush] = []
            for lane in [Lane.urgent, .normal, .bulk] {
                guard let waiting = state.lanes[lane]?.count, waiting > 0 else { continue }
                let room = state.limit.count + (lane == .urgent ? urgentReserve : 0) - state.inFlight
                let count = min(room, Self.maxBatch - pushes.count, waiting)
                // The next lane may have room although this one is full.
                if count <= 0 { continue }
                if lane == .bulk, let wait = state.bulkPace.wait(inFlight: state.inFlight, limit: state.limit.count, at: clock.now) {
                    if wait == .room { state.limit.noteFull() }
                    defer { state.isBulkPausing = true }
                    return (pushes, !state.isBulkPausing)
                }
                let granted = quota.take(count, lane)
                guard granted > 0 else { continue }
                pushes += state.lanes[lane, default: []].prefix(granted)
                state.lanes[lane, default: []].removeFirst(granted)
                state.inFlight += granted
                if lane == .bulk { state.bulkPace.recordBulk(at: clock.now) }
                grantRoom(lane, &state)
            }
            if state.inFlight >= state.limit.count, !state.isEmpty { state.limit.noteFull() }
            return (pushes, false)
        }
        if mustWake { wakeAfterPause() }
        return pushes
    }

    private func wakeAfterPause() {
        Task {
            try? await clock.sleep(for: BulkPace.pause)
            state.withLock { $0.isBulkPausing = false }
            wakeUp.signal()
        }
    }

    /// Whether the queue is closed and nothing is queued or in flight.
    var isOver: Bool { state.withLock { $0.isClosed && $0.isEmpty && $0.inFlight == 0 } }

    /// The effect of a completed send on the pace.
    enum Pace {
        /// FCM answered after this time.
        case answered(Duration)
        /// FCM pushed back or closed a connection.
        case pushedBack
        /// Sending restarts after a time when nothing was sent.
        case restarted
        /// The push gives no measurement.
        case unknown
    }

    /// Records that some pushes are no longer in flight.
    func ended(_ paces: [Pace]) {
        if paces.isEmpty { return }
        state.withLock { state in
            state.inFlight -= paces.count
            for pace in paces {
                switch pace {
                case .answered(let time): state.limit.answered(in: time)
                case .pushedBack: state.limit.pushedBack(at: clock.now)
                case .restarted: state.limit.restart()
                case .unknown: break
                }
            }
        }
    }

    // MARK: Figures

    /// The numbers of queued pushes and of pushes in flight.
    struct Figures {
        /// By lane: the number of queued pushes, and the time the first of them was addressed.
        var waiting: [Lane: (count: Int, since: Date?)] = [:]
        var inFlight: Int
        var inFlightLimit: Int
    }

    /// The current numbers.
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
