/// Says when the bulk lane sends on: in bursts, and with room for urgent pushes while there are any. Plain values, no clock.
struct BulkPace {
    /// The bulk lane waits until so many may go at once, or half of what may be on its way: sent together they cost each
    /// process on their way less than one after the other, as answers come in.
    static let burst = 64
    /// But no longer than this after the last of it went.
    static let pause: Duration = .milliseconds(6)
    /// For so long after an urgent push others are expected, and bulk leaves them time on the machine: one batch in a pause, which is
    /// some 9,500 pushes a second and 10,700 at most. FCM grants a project 10,000 until it has asked for more. It is those that
    /// follow that gain: the first urgent push after a while has come most of its way when it is known of here.
    static let urgentMemory: Duration = .seconds(1)

    /// Why it waits until the pause is over.
    enum Wait {
        /// More answers come, and with them room for a burst.
        case room
        /// Urgent pushes are about.
        case urgent
    }

    private var lastBulk: ContinuousClock.Instant?
    private var lastUrgent: ContinuousClock.Instant?

    mutating func bulkLeft(at now: ContinuousClock.Instant) { lastBulk = now }

    mutating func urgentCame(at now: ContinuousClock.Instant) { lastUrgent = now }

    /// Why bulk has to wait; nil when it may go.
    ///
    /// - Parameters:
    ///   - inFlight: How many pushes of all lanes are on their way.
    ///   - limit: How many may be.
    func wait(inFlight: Int, limit: Int, at now: ContinuousClock.Instant) -> Wait? {
        guard let lastBulk, now - lastBulk < Self.pause else { return nil }
        if inFlight > 0, limit - inFlight < min(Self.burst, limit / 2) { return .room }
        guard let lastUrgent, now - lastUrgent < Self.urgentMemory else { return nil }
        return .urgent
    }
}
