import AsyncPrimitives

/// The limits and times of a relay.
public struct OutboxRelayConfiguration: Sendable {
    /// The most messages of one transaction.
    public var batchSize = 500
    /// The pause before the next poll after a batch with messages; doubles with each empty poll.
    public var minPoll: Duration = .milliseconds(50)
    /// The longest pause before a poll.
    public var maxPoll: Duration = .seconds(1)
    /// The longest pause after failures in a row; the first is ``minPoll``.
    public var maxFailurePause: Duration = .seconds(2)
    /// The time from a publication until the ``Republisher`` checks whether the message was handled or lost. It grows by half with each
    /// publication of the same message: so a message that can never arrive is sent less and less often, and a message that a failing server
    /// loses several times does not wait for long.
    public var confirmWait: Duration = .seconds(10)
    /// The limit of ``confirmWait``.
    public var maxConfirmWait: Duration = .seconds(15 * 60)

    /// Makes a configuration with the defaults.
    public init() {}
}

/// Calculates the pauses between the polls of a relay; has no clock.
struct RelayPace {
    private let configuration: OutboxRelayConfiguration
    private var emptyRounds = 0
    private var failures = 0
    private var isBatchFull = false

    init(_ configuration: OutboxRelayConfiguration) {
        self.configuration = configuration
    }

    /// Whether the last attempt failed.
    var isFailing: Bool { failures > 0 }

    mutating func relayed(_ count: Int) {
        failures = 0
        isBatchFull = count >= configuration.batchSize
        emptyRounds = count == 0 ? emptyRounds + 1 : 0
    }

    mutating func failed() {
        failures += 1
        isBatchFull = false
    }

    /// Returns the time to wait unless the relay is woken; nil when the last batch was full, so that more rows are likely.
    func pause(random: Double = .random(in: 0...1)) -> Duration? {
        if failures > 0 {
            return Backoff(min: configuration.minPoll, max: configuration.maxFailurePause).delay(afterFailures: failures, random: random)
        }
        if isBatchFull { return nil }
        return min(configuration.minPoll * (1 << min(emptyRounds, 16)), configuration.maxPoll)
    }
}
