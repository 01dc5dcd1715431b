internal import FoundationEssentials

/// What was asked for.
struct LoadPlan: Encodable {
    let url: String
    /// What the load is put on, in the words of who does it.
    let label: String?
    let perSecond: Double
    let pattern: Arrivals.Pattern
    let mix: LoadMix
    let seed: UInt64
    /// How long is measured, after the warm-up.
    let duration: Duration
    let warmUp: Duration
    /// The most that is under way at once.
    let concurrencyMax: Int
    /// How long each thing may take before it counts as failed.
    let patience: Duration
    let countsPushes: Bool
    let objectives: [LoadObjective]
    /// The most that may fail, of all that was asked for, 0 to 1.
    let errorsMax: Double

    /// All arrivals, those of the warm-up included.
    var arrivals: Arrivals {
        Arrivals(pattern, perSecond: perSecond, mix: mix, seed: seed, upTo: warmUp + duration)
    }

    /// How many of a kind there will be, more or less.
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
        try container.encode(concurrencyMax, forKey: .concurrencyMax)
        try container.encode(patience.seconds, forKey: .patienceSeconds)
        try container.encode(countsPushes, forKey: .countsPushes)
        try container.encode(errorsMax, forKey: .errorsMax)
    }
}
