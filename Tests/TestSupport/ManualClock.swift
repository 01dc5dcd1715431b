public import AsyncPrimitives
import Synchronization

/// A clock that stands still until the test advances it, or runs and can be put forward.
///
/// The code under test sleeps in tasks of its own: a test waits for the sleep that it means to end (``waitForSleep(of:)``) before it
/// advances the clock. A running clock is for whole services, whose periodic tasks go on meanwhile.
public final class ManualClock: MonotonicClock {
    /// Instants of the system's clock, so that both can stand for ``MonotonicClock``.
    public typealias Instant = ContinuousClock.Instant

    private struct Sleeper {
        let end: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// A test that waits for a sleep with that end.
    private struct Observer {
        let end: Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// The time at which a standing clock was made; nil for a running one.
        let start: Instant?
        /// The sum of all advances.
        var ahead = Duration.zero
        var now: Instant { (start ?? .now) + ahead }
        var lastID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var observers: [UInt64: Observer] = [:]
    }

    private let state: Mutex<State>
    private let isRunning: Bool

    /// Makes a clock that shows some time.
    public init(isRunning: Bool = false) {
        self.isRunning = isRunning
        state = Mutex(State(start: isRunning ? nil : .now))
    }

    /// The time at which the clock was made plus all advances; for a running clock the system's time plus these.
    public var now: Instant { state.withLock { $0.now } }
    /// One nanosecond, since an advance may be of any duration.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Advances the clock and wakes the tasks whose sleep is over.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.ahead += duration
            let now = state.now
            let woken = state.sleepers.filter { $0.value.end <= now }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.sorted { $0.end < $1.end }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Waits until some task sleeps that will wake when the clock, a standing one, is advanced by exactly `duration`.
    ///
    /// Returns at once when it is cancelled, so that a time limit can end the test.
    public func waitForSleep(of duration: Duration) async {
        precondition(!isRunning, "no sleep ends after exactly that time of a clock that runs")
        let id = makeID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state -> Bool in
                    // Read under the lock: a later cancellation finds the observer that is added here.
                    if Task.isCancelled { return true }
                    let end = state.now + duration
                    if state.sleepers.values.contains(where: { $0.end == end }) { return true }
                    state.observers[id] = Observer(end: end, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.observers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Sleeps until the clock shows `end`; `tolerance` is ignored.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until end: Instant, tolerance: Duration? = nil) async throws {
        let id = makeID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(Sleeper(end: end, continuation: continuation), id)
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    private func makeID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func begin(_ sleeper: Sleeper, _ id: UInt64) {
        let (result, observers) = state.withLock { state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
            // Read under the lock: a later cancellation finds the sleeper that is added here.
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            if sleeper.end <= state.now { return (.success(()), []) }
            state.sleepers[id] = sleeper
            let observers = state.observers.filter { $0.value.end == sleeper.end }
            for id in observers.keys { state.observers[id] = nil }
            return (nil, observers.values.map(\.continuation))
        }
        if let result { sleeper.continuation.resume(with: result) }
        for observer in observers { observer.resume() }
        guard isRunning, result == nil else { return }
        Task {
            try? await Task.sleep(for: sleeper.end - now)
            advance(by: .zero)
        }
    }
}
