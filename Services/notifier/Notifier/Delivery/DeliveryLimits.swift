/// The bounds of the work on deliveries.
struct DeliveryLimits: Sendable {
    /// The most due deliveries that are claimed at once.
    var dueBatchSize = 500
    /// Time for which data read at a claim is used, such as the user of a phone: a push not begun by then has to be claimed again.
    var claimAge: Duration = .seconds(5)
    /// The lease of a claimed delivery, which ``LeaseKeeper`` renews until its outcome is written: after the death of its sender, another
    /// sender claims the delivery within this time.
    var lease: Duration = .seconds(15)
    /// The age of a lease, or of its last renewal, at which it is renewed.
    var renewalAge: Duration = .seconds(5)
    /// The interval at which leases are looked at.
    var leaseCheckInterval: Duration = .seconds(1)
    /// The time before the end of a lease at which its pushes in flight are cancelled: they have ended when another sender begins.
    var leaseMargin: Duration = .seconds(3)
    /// The time after an outage of the database in which leases that have ended are not claimed: living senders renew them.
    var outageHoldOff: Duration = .seconds(3)
    /// The time that a claim waits for room in its lane before its event is deferred: a small part of `handlerTimeout`, after
    /// which a consumer cancels the handler and may have its process restarted.
    var roomWait: Duration = .seconds(30)
    /// The time for which an event is deferred when its lane has no room for it.
    var roomRetry: Duration = .seconds(2)
    /// The shortest sleep between two polls for due deliveries.
    var minPollInterval: Duration = .milliseconds(50)
    /// The longest sleep between two polls for due deliveries while pushes are in flight: deliveries behind them may be deferred at
    /// any moment.
    var busyPollInterval: Duration = .seconds(1)
    /// The longest sleep between two polls for due deliveries.
    var maxPollInterval: Duration = .seconds(5)
}
