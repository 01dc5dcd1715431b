/// The bounds of the work on deliveries.
struct DeliveryLimits: Sendable {
    /// How many deliveries that are due are claimed at once.
    var dueBatchSize = 500
    /// How long a claimed delivery is ours.
    var lease: Duration = .seconds(75)
    /// The longest that a send with a fresh access token and a second try can take. What is left of a lease must be
    /// that long for a send to begin, or another sender might begin before it has ended.
    var sendDuration: Duration = .seconds(60)
    /// The shortest sleep between two looks for due deliveries.
    var pollIntervalMin: Duration = .milliseconds(50)
    /// The longest sleep between two looks for due deliveries.
    var pollIntervalMax: Duration = .seconds(5)
}
