/// Paces the bulk lane: it sends in bursts, and yields to urgent pushes while there are any. A value type without a clock.
struct BulkPace {
    /// The bulk lane waits for room for this many pushes, or half of the in-flight limit: pushes sent together cost each process on
    /// their path less than single ones sent as answers come in.
    static let burst = 64
    /// The longest such wait since the last bulk push.
    static let pause: Duration = .milliseconds(6)
    /// Time after an urgent push during which further ones are expected and bulk leaves them processor time: it sends one batch per
    /// ``pause``, which is some 9,500 pushes a second and 10,700 at most. FCM grants a project 10,000 until it has asked for more. The
    /// following urgent pushes gain by it: the first after a quiet time is most of its way through the system when it is seen here.
    static let urgentMemory: Duration = .seconds(1)

    /// The reason for a wait until the pause is over.
    enum Wait {
        /// Answers to come will make room for a burst.
        case room
        /// Urgent pushes are expected.
        case urgent
    }

    private var lastBulk: ContinuousClock.Instant?
    private var lastUrgent: ContinuousClock.Instant?

    mutating func recordBulk(at now: ContinuousClock.Instant) { lastBulk = now }

    mutating func recordUrgent(at now: ContinuousClock.Instant) { lastUrgent = now }

    /// Returns why bulk has to wait; nil when it may send.
    ///
    /// - Parameters:
    ///   - inFlight: The pushes of all lanes in flight.
    ///   - limit: The in-flight limit.
    func wait(inFlight: Int, limit: Int, at now: ContinuousClock.Instant) -> Wait? {
        guard let lastBulk, now - lastBulk < Self.pause else { return nil }
        if inFlight > 0, limit - inFlight < min(Self.burst, limit / 2) { return .room }
        guard let lastUrgent, now - lastUrgent < Self.urgentMemory else { return nil }
        return .urgent
    }
}
