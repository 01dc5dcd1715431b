/// The bounds of the work on one event.
struct DeliveryLimits: Sendable {
    /// How many deliveries are claimed and settled together.
    var batchSize = 100
    /// How many pushes of one event are on their way at once.
    var sendsMax = 16
    /// How long a claimed delivery is ours: more than a send with a fresh access token and a second try can take.
    var lease: Duration = .seconds(75)
    /// The shortest and longest sleep between two looks at deliveries that are not due yet.
    var sleep: ClosedRange<Duration> = .milliseconds(50)...(.seconds(30))
}
