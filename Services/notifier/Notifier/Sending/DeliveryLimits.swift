/// The bounds of the work on deliveries.
struct DeliveryLimits: Sendable {
    /// How many deliveries that are due are claimed at once.
    var dueBatchSize = 500
    /// How long what was read at a claim is believed, such as whose phone it is: a push that has not begun by then is claimed anew.
    var claimAge: Duration = .seconds(5)
    /// The longest that a send with a fresh access token and a second try can take.
    var sendDuration: Duration = .seconds(60)
    /// How long a claimed delivery is ours: no other sender begins before ours has ended.
    var lease: Duration { claimAge + sendDuration }
    /// How long a claim waits for room in its lane before its event is put off: a small part of `handlerTimeout`, after which a
    /// consumer cancels a handler and may have its process started anew.
    var roomWait: Duration = .seconds(30)
    /// For how long an event is put off when its lane had no room for it.
    var roomRetry: Duration = .seconds(2)
    /// The shortest sleep between two looks for due deliveries.
    var pollIntervalMin: Duration = .milliseconds(50)
    /// The longest sleep between two looks for due deliveries while pushes are on their way: some of those behind them may be given
    /// back at any moment.
    var pollIntervalBusy: Duration = .seconds(1)
    /// The longest sleep between two looks for due deliveries.
    var pollIntervalMax: Duration = .seconds(5)
}
