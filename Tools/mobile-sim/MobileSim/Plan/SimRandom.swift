internal import Foundation

/// The random numbers of a simulation, the same for the same seed and stream (SplitMix64, Steele, Lea and Flood 2014).
struct SimRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// - Parameter stream: Distinguishes the generators of one seed: each phone has its own, so that a further phone does not change the
    ///   others.
    init(seed: UInt64, stream: UInt64 = 0) {
        state = seed
        for _ in 0..<2 { state = next() ^ (stream &* 0xD605_BBB5_8C8A_BBFD) }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

    mutating func seconds(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }

    /// A number of events that happen independently of each other, `mean` of them on average (Knuth's method).
    mutating func count(mean: Double) -> Int {
        guard mean > 0 else { return 0 }
        let limit = exp(-min(mean, 100))
        var (count, product) = (0, Double.random(in: 0..<1, using: &self))
        while product > limit {
            count += 1
            product *= Double.random(in: 0..<1, using: &self)
        }
        return count
    }
}
