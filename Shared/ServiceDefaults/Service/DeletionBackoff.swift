internal import FoundationEssentials
internal import Synchronization

/// Remembers which items could not be deleted, so that they are left out until their next try: after 30 s, then twice as
/// long each time, at most 5 minutes.
///
/// It is in memory and of one process: after a restart, and in another instance, each item is tried afresh.
public final class DeletionBackoff: Sendable {
    /// The rest after a first failure.
    public static let firstRest: Duration = .seconds(30)
    /// The longest rest; short enough for an alert to see that an item keeps failing.
    public static let longestRest: Duration = .seconds(5 * 60)
    /// The most items that rest at a time; what fails beyond that is tried at every sweep.
    public static let itemsMax = 5_000

    private struct Key: Hashable {
        let step: String
        let id: UUID
    }

    private struct Rest {
        let length: Duration
        let end: ContinuousClock.Instant
    }

    private let rests = Mutex<[Key: Rest]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Makes an empty one.
    ///
    /// - Parameter now: the present; tests have another.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Returns the items of a step that rest.
    func resting(in step: String) -> [UUID] {
        let now = now()
        return rests.withLock { rests in
            // Items that did not fail again were deleted, maybe by another instance.
            rests = rests.filter { $0.value.end + Self.longestRest > now }
            return rests.compactMap { key, rest in key.step == step && rest.end > now ? key.id : nil }
        }
    }

    /// Notes a failure.
    func postpone(_ id: UUID, in step: String) {
        let now = now()
        let key = Key(step: step, id: id)
        rests.withLock { rests in
            guard rests[key] != nil || rests.count < Self.itemsMax else { return }
            let length = rests[key].map { min($0.length * 2, Self.longestRest) } ?? Self.firstRest
            rests[key] = Rest(length: length, end: now + length)
        }
    }

    /// Forgets an item that was deleted.
    func forget(_ id: UUID, in step: String) {
        _ = rests.withLock { $0.removeValue(forKey: Key(step: step, id: id)) }
    }
}
