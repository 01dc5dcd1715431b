/// Stops sending while it is of no use: closed, then open for a while, then half open for a few probes.
///
/// A value type that is told the time, so that its rules can be tested.
struct Breaker: Sendable {
    /// When it opens.
    enum Trip: Sendable {
        /// At the first fault: it would be the same every time.
        case atOnce
        /// When of the last results, at least so many and no older than ``Breaker/memory``, such a share are faults; or when nothing but
        /// faults has come for ``Breaker/droughtTime``, for where pushes hang, or are few, results are never so many.
        case share(Double, of: Int)
    }

    enum State: Int, Sendable {
        case closed, halfOpen, open
    }

    /// What a push may do.
    enum Admission: Equatable, Sendable {
        case go
        case wait(Duration)
    }

    /// How old a result may be that counts.
    static let memory = 10
    /// After this time without a good result, and ``droughtFaults`` bad ones, it is not chance.
    static let droughtTime: Duration = .seconds(20)
    static let droughtFaults = 10
    /// The longest it stays open.
    static let openTimeMax: Duration = .seconds(300)
    /// How long a probe may take to come back; then others may be sent.
    static let probeTime: Duration = .seconds(60)
    /// How long those wait that come when all probes are on their way.
    static let probeWait: Duration = .seconds(1)

    let trip: Trip
    /// How many pushes are sent to see whether it works again; all of them must.
    let probes: Int
    let openTimeMin: Duration

    private(set) var state = State.closed
    private var openTime: Duration
    /// While open, when it becomes half open; while half open, when new probes may be sent.
    private var nextStep = ContinuousClock.now
    private var probesLeft = 0
    private var probesGood = 0
    /// The faults since the last good result, and when the first of them came.
    private var drought: (faults: Int, start: ContinuousClock.Instant)?
    /// Results by second, the newest last.
    private var seconds: [(start: ContinuousClock.Instant, results: Int, faults: Int)] = []

    init(trip: Trip, probes: Int, openTime: Duration = .seconds(30)) {
        self.trip = trip
        self.probes = probes
        openTimeMin = openTime
        self.openTime = openTime
    }

    /// Says whether a push may go, without letting it.
    mutating func look(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open:
            if now < nextStep { return .wait(nextStep - now) }
            state = .halfOpen
            beginProbing(at: now)
            return .go
        case .halfOpen:
            if probesLeft == 0, now >= nextStep { beginProbing(at: now) }
            return probesLeft > 0 ? .go : .wait(Self.probeWait)
        }
    }

    /// A push goes.
    mutating func letGo() {
        if state == .halfOpen { probesLeft -= 1 }
    }

    private mutating func beginProbing(at now: ContinuousClock.Instant) {
        probesLeft = probes
        probesGood = 0
        nextStep = now + Self.probeTime
    }

    /// Notes how a push ended.
    ///
    /// - Returns: Whether the breaker has closed with it.
    @discardableResult
    mutating func note(isFault: Bool, at now: ContinuousClock.Instant) -> Bool {
        switch state {
        // What was on its way when it opened says nothing new.
        case .open: return false
        case .halfOpen:
            if isFault {
                open(for: min(openTime * 2, Self.openTimeMax), at: now)
                return false
            }
            probesGood += 1
            guard probesGood >= probes else { return false }
            state = .closed
            openTime = openTimeMin
            (seconds, drought) = ([], nil)
            return true
        case .closed:
            count(isFault, at: now)
            if shallTrip(at: now) { open(for: openTimeMin, at: now) }
            return false
        }
    }

    private mutating func open(for time: Duration, at now: ContinuousClock.Instant) {
        state = .open
        openTime = time
        nextStep = now + time
    }

    private mutating func count(_ isFault: Bool, at now: ContinuousClock.Instant) {
        drought = isFault ? ((drought?.faults ?? 0) + 1, drought?.start ?? now) : nil
        if let last = seconds.last, now - last.start < .seconds(1) {
            seconds[seconds.count - 1].results += 1
            seconds[seconds.count - 1].faults += isFault ? 1 : 0
        } else {
            seconds.append((now, 1, isFault ? 1 : 0))
        }
        if let first = seconds.first, now - first.start >= .seconds(Self.memory) {
            seconds.removeAll { now - $0.start >= .seconds(Self.memory) }
        }
    }

    private func shallTrip(at now: ContinuousClock.Instant) -> Bool {
        let faults = seconds.reduce(0) { $0 + $1.faults }
        if faults == 0 { return false }
        switch trip {
        case .atOnce: return true
        case .share(let share, let least):
            if let drought, drought.faults >= Self.droughtFaults, now - drought.start >= Self.droughtTime { return true }
            let results = seconds.reduce(0) { $0 + $1.results }
            return results >= least && Double(faults) >= share * Double(results)
        }
    }
}
