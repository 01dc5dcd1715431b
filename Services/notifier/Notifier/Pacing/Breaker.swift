internal import FoundationEssentials

/// Stops sending while it is of no use: closed, then open for a while, then half open for a few probes.
///
/// A value type that is told the time, so that its rules can be tested.
struct Breaker: Sendable {
    /// When it opens.
    enum Trip: Sendable {
        /// At the first fault: it would be the same every time.
        case atOnce
        /// When of the last results, at least so many and no older than ``Breaker/memory``, such a share are faults; or in a
        /// ``Breaker/Drought``, for where pushes hang, or are few, results are never so many.
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
    /// Faults with no good result between them.
    struct Drought: Sendable {
        /// So long, with so many faults of so many installations, it is neither chance nor a single phone.
        static let timeMin: Duration = .seconds(20)
        static let (faultsMin, installsMin) = (10, 3)
        /// Faults that are further apart have nothing to do with each other.
        static let gapMax: Duration = .seconds(60)

        let start: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        var faults = 0
        var installIDs: Set<UUID> = []

        func isReal(at now: ContinuousClock.Instant) -> Bool {
            faults >= Self.faultsMin && installIDs.count >= Self.installsMin && now - start >= Self.timeMin
        }

        mutating func note(_ installID: UUID, at now: ContinuousClock.Instant) {
            if now - last > Self.gapMax { self = Drought(start: now, last: now) }
            (faults, last) = (faults + 1, now)
            if installIDs.count < Self.installsMin { installIDs.insert(installID) }
        }
    }

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
    private var drought: Drought?
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

    /// Notes how a push to an installation ended.
    ///
    /// - Returns: Whether the breaker has closed with it.
    @discardableResult
    mutating func note(isFault: Bool, installID: UUID, at now: ContinuousClock.Instant) -> Bool {
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
            count(isFault, installID, at: now)
            if shallTrip(at: now) { open(for: openTimeMin, at: now) }
            return false
        }
    }

    private mutating func open(for time: Duration, at now: ContinuousClock.Instant) {
        state = .open
        openTime = time
        nextStep = now + time
    }

    private mutating func count(_ isFault: Bool, _ installID: UUID, at now: ContinuousClock.Instant) {
        if isFault, drought == nil { drought = Drought(start: now, last: now) }
        if isFault { drought?.note(installID, at: now) } else { drought = nil }
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
            if drought?.isReal(at: now) ?? false { return true }
            let results = seconds.reduce(0) { $0 + $1.results }
            return results >= least && Double(faults) >= share * Double(results)
        }
    }
}
