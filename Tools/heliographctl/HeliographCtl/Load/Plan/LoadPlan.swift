internal import FoundationEssentials

/// The parameters of a load run.
struct LoadPlan: Encodable {
    let url: String
    /// The operator's description of the installation under test.
    let label: String?
    let perSecond: Double
    let pattern: Arrivals.Pattern
    let mix: LoadMix
    let seed: UInt64
    /// The measured time, after the warm-up.
    let duration: Duration
    let warmUp: Duration
    /// The number of actions that may be in flight at once.
    let maxConcurrency: Int
    /// The time after which an unfinished action counts as failed.
    let patience: Duration
    let countsPushes: Bool
    let objectives: [LoadObjective]
    /// The share of all actions that may fail, 0 to 1.
    let maxErrorShare: Double

    /// All arrivals, those of the warm-up included.
    var arrivals: Arrivals {
        Arrivals(pattern, perSecond: perSecond, mix: mix, seed: seed, upTo: warmUp + duration)
    }

    /// The expected number of actions of a kind.
    func expected(_ kind: LoadKind) -> Double { perSecond * mix.share(of: kind) * (warmUp + duration).seconds }

    enum CodingKeys: CodingKey {
        case url, label, ratePerSecond, arrivals, mix, seed, durationSeconds, warmUpSeconds, concurrencyMax, patienceSeconds
        case countsPushes, errorsMax
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encode(label, forKey: .label)
        try container.encode(perSecond, forKey: .ratePerSecond)
        try container.encode(pattern, forKey: .arrivals)
        try container.encode(mix.description, forKey: .mix)
        try container.encode(seed, forKey: .seed)
        try container.encode(duration.seconds, forKey: .durationSeconds)
        try container.encode(warmUp.seconds, forKey: .warmUpSeconds)
        try container.encode(maxConcurrency, forKey: .concurrencyMax)
        try container.encode(patience.seconds, forKey: .patienceSeconds)
        try container.encode(countsPushes, forKey: .countsPushes)
        try container.encode(maxErrorShare, forKey: .errorsMax)
    }
}
