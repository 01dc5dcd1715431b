/// How many pushes may be on their way at once: as many as make FCM faster, and no more.
///
/// It grows while all of it is used and answers come as fast as ever, shrinks a little when they take longer, because
/// what waits at FCM cannot be overtaken by what is urgent, and halves when FCM pushes back (AIMD). Answers that are slow and good
/// take it no lower than what carries ``rateMin``. A value type without clock or lock, so that its rules can be tested.
struct InFlightLimit: Sendable {
    /// The least; so many are always tried.
    static let min = 8.0
    /// The least pushes a second that a notifier sends, as far as its connections carry them, while FCM answers well: by Little's law
    /// that takes rate × time of an answer on their way.
    static let rateMin = 100.0
    /// By what factor the shortest time is forgotten in a window of slow answers: an FCM that has become slow for good is taken as it
    /// is after some 25 windows, where a hundredth a window takes hundreds.
    private static let slowForgetting = 1.1
    /// How much longer than ever answers may take, at least, before they count as queueing. FCM is farther away than that, and its
    /// own time counts; where it is as near as an emulator, less than this leaves processors idle between two bursts.
    static let queueingMin: Duration = .milliseconds(8)
    /// The shortest window that is judged, in answers.
    private static let windowMin = 20

    /// The most: so many streams has a client of this configuration, less a fifth for what comes and goes.
    let max: Double
    private(set) var value: Double
    /// Doubles from window to window, until something speaks against it for the first time.
    private var isStarting = true
    /// The shortest mean time of a window; forgotten slowly, as the way to FCM changes.
    private var shortest: Duration?
    private var answers = 0
    private var totalTime: Duration = .zero
    private var wasFull = false
    private var lastHalved: ContinuousClock.Instant?

    init(max: Int) {
        self.max = Swift.max(Self.min, Double(max))
        value = Swift.min(32, self.max)
    }

    /// How many may be on their way.
    var count: Int { Int(value) }

    /// Notes that all of it is used and more is waiting.
    mutating func noteFull() { wasFull = true }

    /// Notes an answer that says nothing against the pace.
    mutating func answered(in time: Duration) {
        answers += 1
        totalTime += time
        guard answers >= Swift.max(Self.windowMin, count) else { return }
        let mean = totalTime / answers
        let best = Swift.min(shortest.map { $0 * 1.01 } ?? mean, mean)
        shortest = best
        if mean > best + Swift.max(best, Self.queueingMin) {
            value *= 0.9
            shortest = best * Self.slowForgetting
            isStarting = false
        } else if wasFull {
            value = Swift.min(max, isStarting ? value * 2 : value + Double(answers) / 100)
        }
        value = Swift.max(value, floor(at: mean))
        (answers, totalTime, wasFull) = (0, .zero, false)
    }

    /// So many on their way make ``rateMin`` when each takes that time.
    private func floor(at time: Duration) -> Double {
        Swift.min(max, Swift.max(Self.min, (Self.rateMin * (time / .seconds(1))).rounded(.up)))
    }

    /// Notes that FCM pushed back, or took a connection away: halves, once for all that were on their way then.
    mutating func pushedBack(at now: ContinuousClock.Instant) {
        isStarting = false
        if let lastHalved, now - lastHalved < .seconds(1) { return }
        lastHalved = now
        value = Swift.max(Self.min, value / 2)
        (answers, totalTime, wasFull) = (0, .zero, false)
    }

    /// Begins anew from little, after a time when nothing was sent.
    mutating func restart() {
        value = Self.min
        isStarting = true
        (answers, totalTime, wasFull) = (0, .zero, false)
    }
}
