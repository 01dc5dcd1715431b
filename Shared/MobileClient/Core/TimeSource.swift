public import Foundation

/// The time of day and the waits of this module, so that a test needs no real time.
public struct TimeSource: Sendable {
    /// The time of day.
    public let now: @Sendable () -> Date
    /// Waits; throws `CancellationError` when the task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a source from functions that may be called from any thread; `sleep` has to end early when its task is cancelled.
    public init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The time of the system.
    public static let system = TimeSource(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}

extension Date {
    /// Whether an instant is longer ago than `age`. An instant that is further ahead than `age` counts as old too: otherwise a record that
    /// was written while the clock was wrong would be kept for that long.
    func isOlder(than age: Duration, at now: Date) -> Bool { abs(now.timeIntervalSince(self)) > age / .seconds(1) }
}
