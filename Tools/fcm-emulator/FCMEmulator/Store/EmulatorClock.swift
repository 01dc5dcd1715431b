import FoundationEssentials
import Synchronization

/// The time as the emulator sees it: the configured clock, moved by what the control API asks.
///
/// Tokens, registrations, quota and the windows of faults go by it; latencies and waits do not.
final class EmulatorClock: Sendable {
    private let base: @Sendable () -> Date
    private let offset = Mutex(0.0)

    init(_ base: @escaping @Sendable () -> Date) { self.base = base }

    /// The time now.
    var now: Date { base().addingTimeInterval(offset.withLock { $0 }) }

    /// How far it was moved, in seconds.
    var offsetSeconds: Double { offset.withLock { $0 } }

    /// Moves it on, or back, by so many seconds.
    func advance(seconds: Double) { offset.withLock { $0 += seconds } }

    /// Lets it go by the configured clock again.
    func reset() { offset.withLock { $0 = 0 } }
}
