/// A small generator of random numbers that gives the same ones in every run.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Random bytes, line ends and RESP's type marks more often than others.
    mutating func bytes(upTo limit: Int) -> [UInt8] {
        let special = Array("\r\n$*:+-".utf8)
        return (0..<Int.random(in: 0...limit, using: &self)).map { _ in
            Bool.random(using: &self) ? special.randomElement(using: &self)! : UInt8.random(in: 0...255, using: &self)
        }
    }
}
