import FoundationEssentials
import Synchronization

/// The emulator's clock: the configured clock plus the offset that the control API sets.
///
/// Tokens, registrations, the quota and the time windows of faults use it; latencies and waits do not.
final class EmulatorClock: Sendable {
    private let base: @Sendable () -> Date
    private let offset = Mutex(0.0)

    init(_ base: @escaping @Sendable () -> Date) { self.base = base }

    /// The time now.
    var now: Date { base().addingTimeInterval(offset.withLock { $0 }) }

    /// The offset from the configured clock, in seconds.
    var offsetSeconds: Double { offset.withLock { $0 } }

    /// Moves the clock by that number of seconds; a negative number moves it back.
    func advance(seconds: Double) { offset.withLock { $0 += seconds } }

    /// Sets the offset back to 0.
    func reset() { offset.withLock { $0 = 0 } }
}
