import AsyncPrimitives

/// The limits and times of a relay.
public struct OutboxRelayConfiguration: Sendable {
    /// The most messages of one transaction.
    public var batchSize = 500
    /// The pause before the relay looks by itself after it found something; doubles each time it finds nothing.
    public var minPoll: Duration = .milliseconds(50)
    /// The longest pause before the relay looks by itself.
    public var maxPoll: Duration = .seconds(1)
    /// The longest pause after failures in a row; the first is ``minPoll``.
    public var maxFailurePause: Duration = .seconds(2)
    /// The time after a publication from which on the ``Republisher`` asks whether the message was handled or lost. It is half
    /// as long again with each publication of the same message, so that one that cannot arrive is not sent without end, and
    /// a message that one failing server loses again and again does not wait for long.
    public var confirmWait: Duration = .seconds(10)
    /// The limit of ``confirmWait``.
    public var maxConfirmWait: Duration = .seconds(15 * 60)

    /// Makes a configuration with the defaults.
    public init() {}
}

/// Decides when a relay looks into the outbox again. Plain values, no clock.
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

    /// Returns the longest wait for a signal; nil when there is more to relay at once.
    func pause(random: Double = .random(in: 0...1)) -> Duration? {
        if failures > 0 {
            return Backoff(min: configuration.minPoll, max: configuration.maxFailurePause).delay(afterFailures: failures, random: random)
        }
        if isBatchFull { return nil }
        return min(configuration.minPoll * (1 << min(emptyRounds, 16)), configuration.maxPoll)
    }
}
