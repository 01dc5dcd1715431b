/// The limits and times of a republisher. How long a message has before it is looked at is said by the relay,
/// ``OutboxRelayConfiguration/confirmWait``.
public struct RepublisherConfiguration: Sendable {
    /// The time between two rounds; up to 30 % longer or shorter.
    public var interval: Duration = .seconds(3)
    /// The most messages of one statement, and of one question to Redis.
    public var batchSize = 500
    /// After so many messages that are merely on their way a round ends: a long backlog is looked through piece by piece,
    /// while messages that are lost, or handled, are all found in one round.
    public var maxInFlight = 1000
    /// The time until a message that is on its way is looked at again.
    public var recheck: Duration = .seconds(10)
    /// The time between two counts of what the outbox owes, for the metrics.
    public var measureInterval: Duration = .seconds(15)

    /// Makes a configuration with the defaults.
    public init() {}
}
