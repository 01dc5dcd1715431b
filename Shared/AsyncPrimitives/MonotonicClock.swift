/// A clock that never goes back: the system's, or one that a test advances.
///
/// The bus, the notifier and the sweepers take one, so that their tests need not wait. Its instants are those of the system's clock,
/// and `sleep` ends early only by cancellation.
public protocol MonotonicClock: Clock where Instant == ContinuousClock.Instant {}

extension ContinuousClock: MonotonicClock {}
