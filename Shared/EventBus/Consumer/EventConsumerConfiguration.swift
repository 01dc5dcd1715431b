/// The limits and times of a consumer. They hold for each stream by itself, so that a slow one does not hold up another.
public struct EventConsumerConfiguration: Sendable {
    /// How many messages of a stream are handled at the same time, by handlers that take one at a time.
    public var concurrency = 8
    /// The most messages in one transaction, for handlers that take batches; 1 to 100.
    public var batchSize = 100
    /// How long a handler may take for one message or one batch; then it is cancelled, which counts as a failure.
    public var handlerTimeout: Duration = .seconds(600)
    /// What becomes of messages that fail.
    public var retryPolicy = RetryPolicy()

    /// How long a read waits for a message before it is repeated; also bounds how late a dead connection is noticed.
    public var readWait: Duration = .seconds(2)
    /// After how long without a sign of life a consumer counts as dead and its messages are given to others.
    public var claimMinIdle: Duration = .seconds(15)
    /// How often a consumer looks for messages of dead ones and gives a sign of life for its own; varied by 30 %.
    public var claimInterval: Duration = .seconds(3)
    /// How often the stream is trimmed and the group's figures are taken; varied by 30 %.
    public var maintenanceInterval: Duration = .seconds(5)
    /// How long a dead letter waits for an operator; then it is deleted.
    public var deadLetterAge: Duration = .seconds(30 * 24 * 3600)
    /// The longest pause before a consumer looks for retries that are due.
    public var retryPoll: Duration = .seconds(1)
    /// How long acknowledgements are collected when no read is there to carry them.
    public var acknowledgeLinger: Duration = .milliseconds(3)
    /// How long handlers may go on after shutdown began; then they are cancelled, and their messages go to others.
    public var drainTimeout: Duration = .seconds(20)
    /// The pause of a worker after a first failure, and of a reader before it connects again; doubles with each further one.
    public var minBackoff: Duration = .milliseconds(50)
    /// The longest of these pauses.
    public var maxBackoff: Duration = .seconds(2)
    /// How long the read loop may make no step, or a handler go on after it was cancelled, before the consumer fails and its
    /// process is started anew.
    public var stallLimit: Duration = .seconds(60)

    /// Makes a configuration with the defaults.
    public init() {}

    var backoff: Backoff { Backoff(min: minBackoff, max: maxBackoff) }
}
