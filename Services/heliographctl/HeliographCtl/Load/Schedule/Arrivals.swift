internal import Foundation
internal import SeededRandom

/// One thing that somebody does at a set time, whether what was done before is finished or not.
struct Arrival: Equatable {
    /// Counts from 0.
    let number: Int
    /// When, from the start.
    let offset: Duration
    let kind: LoadKind
}

/// When people come, and what each of them does: made one by one, so that days take no more memory than seconds.
///
/// The same seed gives the same people at the same times, at whatever speed they are served.
struct Arrivals: Sequence, IteratorProtocol {
    /// How the times between arrivals are.
    enum Pattern: String, CaseIterable, Encodable {
        /// Like independent people: exponential times between them, so that some come close together.
        case poisson
        /// All equal.
        case constant
    }

    private let pattern: Pattern
    private let perSecond: Double
    private let mix: LoadMix
    private let end: Double
    private var times: SeededGenerator
    private var choices: SeededGenerator
    private var number = 0
    private var seconds = 0.0

    /// Arrivals from 0 up to a time, without it.
    init(_ pattern: Pattern, perSecond: Double, mix: LoadMix, seed: UInt64, upTo end: Duration) {
        self.pattern = pattern
        self.perSecond = perSecond
        self.mix = mix
        self.end = end.seconds
        times = SeededGenerator(seed: seed)
        // Apart from the times, so that another mix leaves those as they are.
        choices = SeededGenerator(seed: ~seed)
    }

    mutating func next() -> Arrival? {
        switch pattern {
        // Multiplied, not added up: a day of additions would be off by more than a request.
        case .constant: seconds = Double(number) / perSecond
        case .poisson: seconds += -log(1 - Double.random(in: 0..<1, using: &times)) / perSecond
        }
        guard seconds < end else { return nil }
        defer { number += 1 }
        return Arrival(number: number, offset: .seconds(seconds), kind: mix.pick(using: &choices))
    }
}
