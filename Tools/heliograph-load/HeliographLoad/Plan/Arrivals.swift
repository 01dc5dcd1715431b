internal import CommandLineSupport
internal import Foundation

/// One action with its scheduled time, which does not depend on earlier actions.
struct Arrival: Equatable {
    /// Counts from 0.
    let number: Int
    /// Scheduled time since the start.
    let offset: Duration
    let kind: LoadKind
}

/// The schedule of a load: times and kinds of actions, generated one by one, so that days take no more memory than seconds.
///
/// The same seed gives the same actions at the same times, whatever the speed of the service.
struct Arrivals: Sequence, IteratorProtocol {
    /// The distribution of the times between arrivals.
    enum Pattern: String, CaseIterable {
        /// Exponential times, as between independent people: some arrive close together.
        case poisson
        /// All equal.
        case constant
    }

    private let pattern: Pattern
    private let perSecond: Double
    private let mix: LoadMix
    private let end: Double
    private var times: LoadRandom
    private var choices: LoadRandom
    private var number = 0
    private var seconds = 0.0

    /// Creates the arrivals from 0 up to, but not including, a time.
    init(_ pattern: Pattern, perSecond: Double, mix: LoadMix, seed: UInt64, upTo end: Duration) {
        self.pattern = pattern
        self.perSecond = perSecond
        self.mix = mix
        self.end = end.seconds
        times = LoadRandom(seed: seed)
        // A generator of its own, so that another mix leaves the times unchanged.
        choices = LoadRandom(seed: ~seed)
    }

    mutating func next() -> Arrival? {
        switch pattern {
        // Multiplied, not added up: the rounding errors of a day of additions would exceed one request.
        case .constant: seconds = Double(number) / perSecond
        case .poisson: seconds += -log(1 - Double.random(in: 0..<1, using: &times)) / perSecond
        }
        guard seconds < end else { return nil }
        defer { number += 1 }
        return Arrival(number: number, offset: .seconds(seconds), kind: mix.pick(using: &choices))
    }
}
