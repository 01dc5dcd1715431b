internal import FoundationEssentials

/// A circuit breaker: closed, then open for a time, then half open for a few probes.
///
/// A value type without a clock, so that its rules can be tested.
struct Breaker: Sendable {
    /// The rule by which it opens.
    enum Trip: Sendable {
        /// At the first fault, because every further push would fail in the same way.
        case immediate
        /// When this share of the results of the last ``Breaker/memorySeconds`` are faults and there are at least `of` results; or in a
        /// ``Breaker/FaultStreak``, because there are never that many results where pushes hang or are few.
        case share(Double, of: Int)
    }

    enum State: Int, Sendable {
        case closed, halfOpen, open
    }

    /// The decision on a push: it may be sent, or has to wait this long.
    enum Admission: Equatable, Sendable {
        case go
        case wait(Duration)
    }

    /// The age up to which a result counts.
    static let memorySeconds = 10
    /// Consecutive faults, without a good result between them.
    struct FaultStreak: Sendable {
        /// A streak of this duration, with this many faults of this many installations, is not chance, and not the fault of a single phone.
        static let minDuration: Duration = .seconds(20)
        static let (minFaults, minInstalls) = (10, 3)
        /// Faults further apart than this are unrelated: a new streak begins.
        static let maxGap: Duration = .seconds(60)

        let start: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        var faults = 0
        var installIDs: Set<UUID> = []

        func isSignificant(at now: ContinuousClock.Instant) -> Bool {
            faults >= Self.minFaults && installIDs.count >= Self.minInstalls && now - start >= Self.minDuration
        }

        mutating func note(_ installID: UUID, at now: ContinuousClock.Instant) {
            if now - last > Self.maxGap { self = FaultStreak(start: now, last: now) }
            (faults, last) = (faults + 1, now)
            if installIDs.count < Self.minInstalls { installIDs.insert(installID) }
        }
    }

    /// The longest time it stays open.
    static let maxOpenTime: Duration = .seconds(300)
    /// Time after which the results of missing probes are no longer awaited and new probes may be sent.
    static let probeTime: Duration = .seconds(60)
    /// The wait of a push that comes while all probes are in flight.
    static let probeWait: Duration = .seconds(1)

    let trip: Trip
    /// The number of probes; all of them have to succeed before it closes.
    let probes: Int
    let minOpenTime: Duration

    private(set) var state = State.closed
    private var openTime: Duration
    /// While open, the time it becomes half open; while half open, the time new probes may be sent.
    private var nextStep: ContinuousClock.Instant?
    private var probesLeft = 0
    private var probesGood = 0
    private var faultStreak: FaultStreak?
    /// Counts of results by second, the newest last, and their sums, so that a result costs two comparisons.
    private var seconds: [Second] = []
    private var (results, faults) = (0, 0)

    private struct Second {
        let end: ContinuousClock.Instant
        /// When its results are too old to count.
        let expiry: ContinuousClock.Instant
        var results = 0
        var faults = 0
    }

    init(trip: Trip, probes: Int, openTime: Duration = .seconds(30)) {
        self.trip = trip
        self.probes = probes
        minOpenTime = openTime
        self.openTime = openTime
    }

    /// Returns whether a push may be sent, without counting it as a probe; see ``recordAdmission()``.
    mutating func peek(at now: ContinuousClock.Instant) -> Admission {
        switch state {
        case .closed: return .go
        case .open:
            if let nextStep, now < nextStep { return .wait(nextStep - now) }
            state = .halfOpen
            beginProbing(at: now)
            return .go
        case .halfOpen:
            if probesLeft == 0, let nextStep, now >= nextStep { beginProbing(at: now) }
            return probesLeft > 0 ? .go : .wait(Self.probeWait)
        }
    }

    /// Counts a push that is sent: while half open, it is a probe.
    mutating func recordAdmission() {
        if state == .halfOpen { probesLeft -= 1 }
    }

    /// Returns the probe of a push whose outcome says nothing, so that another push is the probe.
    mutating func returnProbe() {
        if state == .halfOpen { probesLeft = min(probesLeft + 1, probes) }
    }

    private mutating func beginProbing(at now: ContinuousClock.Instant) {
        probesLeft = probes
        probesGood = 0
        nextStep = now + Self.probeTime
    }

    /// Records the result of a push to an installation.
    ///
    /// - Returns: Whether this result has closed the breaker.
    @discardableResult
    mutating func note(isFault: Bool, installID: UUID, at now: ContinuousClock.Instant) -> Bool {
        switch state {
        // Results of pushes that were in flight when it opened add no information.
        case .open: return false
        case .halfOpen:
            if isFault {
                open(for: min(openTime * 2, Self.maxOpenTime), at: now)
                return false
            }
            probesGood += 1
            guard probesGood >= probes else { return false }
            state = .closed
            openTime = minOpenTime
            (seconds, results, faults, faultStreak) = ([], 0, 0, nil)
            return true
        case .closed:
            count(isFault, installID, at: now)
            if shouldTrip(at: now) { open(for: minOpenTime, at: now) }
            return false
        }
    }

    private mutating func open(for time: Duration, at now: ContinuousClock.Instant) {
        state = .open
        openTime = time
        nextStep = now + time
    }

    private mutating func count(_ isFault: Bool, _ installID: UUID, at now: ContinuousClock.Instant) {
        if isFault, faultStreak == nil { faultStreak = FaultStreak(start: now, last: now) }
        if isFault { faultStreak?.note(installID, at: now) } else if faultStreak != nil { faultStreak = nil }
        while !seconds.isEmpty, now >= seconds[0].expiry {
            (results, faults) = (results - seconds[0].results, faults - seconds[0].faults)
            seconds.removeFirst()
        }
        if seconds.isEmpty || now >= seconds[seconds.count - 1].end {
            seconds.append(Second(end: now + .seconds(1), expiry: now + .seconds(Self.memorySeconds)))
        }
        results += 1
        seconds[seconds.count - 1].results += 1
        if isFault {
            faults += 1
            seconds[seconds.count - 1].faults += 1
        }
    }

    private func shouldTrip(at now: ContinuousClock.Instant) -> Bool {
        if faults == 0 { return false }
        switch trip {
        case .immediate: return true
        case .share(let share, let least):
            if faultStreak?.isSignificant(at: now) ?? false { return true }
            return results >= least && Double(faults) >= share * Double(results)
        }
    }
}
