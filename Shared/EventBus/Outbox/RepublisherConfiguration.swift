/// The limits and times of a republisher. The relay sets the time until the first check of a message:
/// ``OutboxRelayConfiguration/confirmWait``.
public struct RepublisherConfiguration: Sendable {
    /// The time between two rounds; up to 30 % longer or shorter.
    public var interval: Duration = .seconds(3)
    /// The most messages of one statement, and of one query to Redis.
    public var batchSize = 500
    /// The number of messages in flight at which a round ends: a long backlog is checked over several rounds, while lost and
    /// handled messages are all found in one round.
    public var maxInFlight = 1000
    /// The time until a message in flight is checked again.
    public var recheck: Duration = .seconds(10)
    /// The time between two counts of the open messages of the outbox, for the metrics.
    public var measureInterval: Duration = .seconds(15)

    /// Makes a configuration with the defaults.
    public init() {}
}
