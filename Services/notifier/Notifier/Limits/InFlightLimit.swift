/// The adaptive limit of pushes in flight: the most that still raise FCM's throughput.
///
/// It grows while it is used up and answers come as fast as ever, shrinks by a tenth when they take longer, because an urgent push
/// cannot overtake pushes that queue at FCM, and halves when FCM pushes back (AIMD). Slow answers without push-back
/// lower it no further than ``minRate`` needs. A value type without clock or lock, so that its rules can be tested.
struct InFlightLimit: Sendable {
    /// The lowest limit, also while FCM pushes back.
    static let min = 8.0
    /// The lowest rate, in pushes per second, while FCM answers without push-back and as far as the connections carry it: by Little's
    /// law it needs rate × answer time pushes in flight.
    static let minRate = 100.0
    /// The growth of the shortest time per window of slow answers: an FCM that stays slow is accepted as the new baseline after some
    /// 25 windows, where a growth of 1 % takes hundreds.
    private static let slowWindowGrowth = 1.1
    /// The least excess over the shortest time at which answers count as queueing. The value does not matter for FCM, whose round trips
    /// take longer; with an emulator on the same machine, a lower value leaves processors idle between two bursts.
    static let minQueueing: Duration = .milliseconds(8)
    /// The shortest window that is evaluated, in answers.
    private static let minWindow = 20

    /// The highest limit: the streams of the configured client, less a fifth for streams that are being opened and closed.
    let max: Double
    private(set) var value: Double
    /// Whether the limit still doubles from window to window: until the first slow window or push-back.
    private var isStarting = true
    /// The shortest mean answer time of a window; it grows slowly, because the network path to FCM changes.
    private var shortest: Duration?
    private var answers = 0
    private var totalTime: Duration = .zero
    private var wasFull = false
    private var lastHalved: ContinuousClock.Instant?

    init(max: Int) {
        self.max = Swift.max(Self.min, Double(max))
        value = Swift.min(32, self.max)
    }

    /// The current limit.
    var count: Int { Int(value) }

    /// Records that the limit is used up while more pushes wait.
    mutating func noteFull() { wasFull = true }

    /// Records an answer without push-back.
    mutating func answered(in time: Duration) {
        answers += 1
        totalTime += time
        guard answers >= Swift.max(Self.minWindow, count) else { return }
        let mean = totalTime / answers
        let best = Swift.min(shortest.map { $0 * 1.01 } ?? mean, mean)
        shortest = best
        if mean > best + Swift.max(best, Self.minQueueing) {
            value *= 0.9
            shortest = best * Self.slowWindowGrowth
            isStarting = false
        } else if wasFull {
            value = Swift.min(max, isStarting ? value * 2 : value + Double(answers) / 100)
        }
        value = Swift.max(value, floor(at: mean))
        (answers, totalTime, wasFull) = (0, .zero, false)
    }

    /// The limit that yields ``minRate`` when an answer takes `time`.
    private func floor(at time: Duration) -> Double {
        Swift.min(max, Swift.max(Self.min, (Self.minRate * (time / .seconds(1))).rounded(.up)))
    }

    /// Records that FCM pushed back or closed a connection: halves the limit, once a second, so that all pushes that were in flight
    /// count once.
    mutating func pushedBack(at now: ContinuousClock.Instant) {
        isStarting = false
        if let lastHalved, now - lastHalved < .seconds(1) { return }
        lastHalved = now
        value = Swift.max(Self.min, value / 2)
        (answers, totalTime, wasFull) = (0, .zero, false)
    }

    /// Restarts from ``min`` after a time when nothing was sent.
    mutating func restart() {
        value = Self.min
        isStarting = true
        (answers, totalTime, wasFull) = (0, .zero, false)
    }
}
