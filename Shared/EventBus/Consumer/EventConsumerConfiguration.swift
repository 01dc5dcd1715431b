import AsyncPrimitives

/// The limits and times of a consumer. They apply to each stream by itself, so that a slow one does not delay another.
public struct EventConsumerConfiguration: Sendable {
    /// The most messages of a stream that are handled at the same time, by handlers of single messages.
    public var concurrency = 8
    /// The most messages in one transaction, for handlers that take batches; 1 to 100.
    public var batchSize = 100
    /// The time after which a handler of one message or one batch is cancelled, which counts as a failure.
    public var handlerTimeout: Duration = .seconds(600)
    /// The policy for messages that fail.
    public var retryPolicy = RetryPolicy()

    /// The time that a read waits for a message; it also bounds how late a dead connection is noticed.
    public var readWait: Duration = .seconds(2)
    /// The interval at which a consumer sends a heartbeat and claims entries of dead consumers; varied by 30 %.
    public var heartbeatInterval: Duration = .milliseconds(500)
    /// The time without a heartbeat after which a consumer counts as dead.
    public var silenceLimit: Duration = .seconds(7)
    /// The time for a heartbeat of a consumer after the loss of its lifeline was noticed: at least two intervals, in which a living
    /// consumer connects again.
    public var lifelineGrace: Duration = .milliseconds(1200)
    /// The idle time after which an entry may be claimed of a consumer that lives: the delivery never reached it, so that it does not
    /// renew the entry.
    public var claimMinIdle: Duration = .seconds(15)
    /// The interval at which a consumer renews its entries and claims idle ones.
    public var claimInterval: Duration = .seconds(3)
    /// The interval at which the stream is trimmed and the group's metrics are recorded; varied by 30 %.
    public var maintenanceInterval: Duration = .seconds(5)
    /// The age at which a dead letter is deleted.
    public var deadLetterAge: Duration = .seconds(30 * 24 * 3600)
    /// The interval at which old dead letters are deleted and the others counted; not shorter than ``maintenanceInterval``.
    public var deadLetterInterval: Duration = .seconds(30)
    /// The longest interval at which due retries are appended.
    public var retryPoll: Duration = .seconds(1)
    /// The time for which acknowledgements are collected when no read carries them.
    public var acknowledgeLinger: Duration = .milliseconds(3)
    /// The time that handlers may go on after shutdown began; then they are cancelled, and their entries released.
    public var drainTimeout: Duration = .seconds(20)
    /// The delay of a worker after a first failure, and of a reader before it reconnects; doubles with each further failure.
    public var minBackoff: Duration = .milliseconds(50)
    /// The longest of these delays.
    public var maxBackoff: Duration = .seconds(2)
    /// The time without progress of the read loop, or of a handler after its cancellation, after which the consumer fails so that its
    /// process is restarted.
    public var stallLimit: Duration = .seconds(60)

    /// Makes a configuration with the defaults.
    public init() {}

    var heartbeatLimits: HeartbeatLimits {
        HeartbeatLimits(
            silence: silenceLimit, lifelineGrace: lifelineGrace, stall: heartbeatInterval * 4,
            holdOff: heartbeatInterval * 6)
    }

    /// The time after a stall in which every living consumer has renewed its entries: an entry delivered just before an interval is renewed
    /// at the second interval after it, and an interval ends with the first heartbeat after it.
    var renewalTime: Duration { min((claimInterval + heartbeatInterval) * 2.7, claimMinIdle) }

    var backoff: Backoff { Backoff(min: minBackoff, max: maxBackoff) }
}
