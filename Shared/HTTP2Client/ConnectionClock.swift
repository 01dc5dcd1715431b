/// When something must be done about a connection, by nothing but the time.
struct ConnectionClock {
    /// What is due.
    enum Due {
        case nothing
        /// The server has not said in time that it speaks HTTP/2.
        case ungreeted
        /// The connection is to be replaced; said once.
        case old
        /// The server owes an answer and has sent nothing for a while: it is to be asked whether it is there; said once a silence.
        case ask
        /// It has not even answered that.
        case silent
    }

    private let silenceMax: Duration
    private let lifetime: Duration
    private var isGreeted = false
    /// When it must be greeted, and from then on when it is old; nil once that was said.
    private var termEnd: ContinuousClock.Instant?
    private var silentSince: ContinuousClock.Instant
    private var isAsked = false

    init(_ configuration: HTTP2ClientConfiguration, now: ContinuousClock.Instant) {
        silenceMax = configuration.unacknowledgedTimeout
        // Connections that were opened together are not replaced together.
        lifetime = configuration.connectionLifetime * Double.random(in: 0.75...1.25)
        termEnd = now + configuration.connectTimeout
        silentSince = now
    }

    /// Notes that the server speaks HTTP/2.
    mutating func greeted(now: ContinuousClock.Instant) {
        isGreeted = true
        termEnd = now + lifetime
    }

    /// Notes that something has come from the server, or that it owes something only from now on.
    mutating func heard(now: ContinuousClock.Instant) {
        silentSince = now
        isAsked = false
    }

    /// When something is due; nil when never.
    ///
    /// - Parameter isBusy: Whether the server owes answers.
    func next(isBusy: Bool) -> ContinuousClock.Instant? {
        guard isBusy else { return termEnd }
        let silence = silentSince + silenceMax / (isAsked ? 1 : 2)
        return termEnd.map { min($0, silence) } ?? silence
    }

    /// Says what is due; of more than one thing the others come with the next calls.
    mutating func due(now: ContinuousClock.Instant, isBusy: Bool) -> Due {
        if let termEnd, termEnd <= now {
            guard isGreeted else { return .ungreeted }
            self.termEnd = nil
            return .old
        }
        guard isBusy, silentSince + silenceMax / 2 <= now else { return .nothing }
        if silentSince + silenceMax <= now { return .silent }
        guard !isAsked else { return .nothing }
        isAsked = true
        return .ask
    }
}
