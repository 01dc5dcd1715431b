public import AsyncPrimitives
internal import FoundationEssentials
internal import Synchronization

/// Delays the next attempt to delete an item after a failure: 30 s at first, then twice as long each time, up to 5 minutes.
///
/// The state is in the memory of one process: after a restart, and in another instance, each item is attempted afresh.
public final class DeletionBackoff: Sendable {
    /// The delays; the longest is short enough for an alert to see that an item keeps failing.
    public static let backoff = Backoff(min: .seconds(30), max: .seconds(5 * 60), randomShare: 0)
    /// The maximum number of delayed items; further failing items are attempted at every sweep.
    public static let maxItems = 5_000

    private struct Key: Hashable {
        let step: String
        let id: UUID
    }

    private struct Delay {
        let failures: Int
        let end: ContinuousClock.Instant
    }

    private let delays = Mutex<[Key: Delay]>([:])
    private let clock: any MonotonicClock

    /// Creates a backoff without items.
    public init(clock: any MonotonicClock = ContinuousClock()) {
        self.clock = clock
    }

    /// Returns the delayed items of a step.
    func delayedItems(in step: String) -> [UUID] {
        let now = clock.now
        return delays.withLock { delays in
            // Items that did not fail again were deleted, maybe by another instance.
            delays = delays.filter { $0.value.end + Self.backoff.max > now }
            return delays.compactMap { key, delay in key.step == step && delay.end > now ? key.id : nil }
        }
    }

    /// Records that an item could not be deleted.
    func recordFailure(_ id: UUID, in step: String) {
        let now = clock.now
        let key = Key(step: step, id: id)
        delays.withLock { delays in
            guard delays[key] != nil || delays.count < Self.maxItems else { return }
            let failures = (delays[key]?.failures ?? 0) + 1
            delays[key] = Delay(failures: failures, end: now + Self.backoff.delay(afterFailures: failures))
        }
    }

    /// Records that an item was deleted.
    func recordSuccess(_ id: UUID, in step: String) {
        _ = delays.withLock { $0.removeValue(forKey: Key(step: step, id: id)) }
    }
}
