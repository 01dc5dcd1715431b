/// How often a server is tried that cannot be reached: at growing intervals.
struct Redial {
    /// The pause after the first failure.
    static let pauseMin: Duration = .milliseconds(50)
    /// The longest pause.
    static let pauseMax: Duration = .seconds(1)

    /// When the next attempt may be made; nil means now.
    private(set) var earliest: ContinuousClock.Instant?
    private var pause = pauseMin

    /// Notes that a server cannot be reached, or lets go of us before it has answered anything.
    mutating func failed(now: ContinuousClock.Instant) {
        earliest = now + pause * Double.random(in: 0.75...1)
        pause = min(pause * 2, Self.pauseMax)
    }

    /// Notes that a server has answered.
    mutating func succeeded() {
        earliest = nil
        pause = Self.pauseMin
    }

    func isDue(now: ContinuousClock.Instant) -> Bool { earliest.map { $0 <= now } ?? true }
}
