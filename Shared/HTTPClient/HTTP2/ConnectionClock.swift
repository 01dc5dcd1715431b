/// The timers of a connection: first frame, lifetime and silence of the server.
struct ConnectionClock {
    /// The action that is due.
    enum Due {
        case nothing
        /// The server has not sent its SETTINGS frame in time.
        case settingsOverdue
        /// The connection has reached its lifetime and is to be replaced; reported once.
        case old
        /// The server has not answered a request, and has sent nothing for half the timeout: the caller must ping it; reported once per
        /// silence.
        case ping
        /// The server has not answered the ping either.
        case silent
    }

    private let maxSilence: Duration
    private let lifetime: Duration
    private var hasSettings = false
    /// The deadline of the SETTINGS frame, and after that frame the end of the lifetime; nil once that was reported.
    private var phaseEnd: ContinuousClock.Instant?
    /// The beginning of the server's silence; nil while it owes no response.
    ///
    /// A call that ends without an answer, by a timeout or a cancellation, does not end the silence: a silent connection would otherwise
    /// take one call after another.
    private var silentSince: ContinuousClock.Instant?
    private var isPingSent = false

    init(_ configuration: HTTP2ClientConfiguration, now: ContinuousClock.Instant) {
        maxSilence = configuration.unacknowledgedTimeout
        // Connections that were opened together are not replaced together.
        lifetime = configuration.connectionLifetime * Double.random(in: 0.75...1.25)
        phaseEnd = now + configuration.connectTimeout
    }

    /// Records the server's SETTINGS frame, and starts the lifetime.
    mutating func settingsReceived(now: ContinuousClock.Instant) {
        hasSettings = true
        phaseEnd = now + lifetime
    }

    /// Records that a request was begun, which the server is to answer.
    mutating func requestBegan(now: ContinuousClock.Instant) { silentSince = silentSince ?? now }

    /// Records that the server sent bytes.
    ///
    /// - Parameter isBusy: Whether it owes responses now.
    mutating func bytesReceived(now: ContinuousClock.Instant, isBusy: Bool) {
        silentSince = isBusy ? now : nil
        isPingSent = false
    }

    /// The time of the next action; nil when no action is due.
    var next: ContinuousClock.Instant? {
        guard let silentSince else { return phaseEnd }
        let silence = silentSince + maxSilence / (isPingSent ? 1 : 2)
        return phaseEnd.map { min($0, silence) } ?? silence
    }

    /// Returns the action that is due; when several are, the others follow with the next calls.
    mutating func due(now: ContinuousClock.Instant) -> Due {
        if let phaseEnd, phaseEnd <= now {
            guard hasSettings else { return .settingsOverdue }
            self.phaseEnd = nil
            return .old
        }
        guard let silentSince, silentSince + maxSilence / 2 <= now else { return .nothing }
        if silentSince + maxSilence <= now { return .silent }
        guard !isPingSent else { return .nothing }
        isPingSent = true
        return .ping
    }
}
