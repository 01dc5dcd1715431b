internal import CommandLineSupport

/// The parameters of a load run.
struct LoadPlan {
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
    /// The time for which a request that got no answer is sent again.
    var retryTime = Duration.zero

    /// All arrivals, including the warm-up.
    var arrivals: Arrivals {
        Arrivals(pattern, perSecond: perSecond, mix: mix, seed: seed, upTo: warmUp + duration)
    }

    /// The expected number of actions of a kind.
    func expected(_ kind: LoadKind) -> Double { perSecond * mix.share(of: kind) * (warmUp + duration).seconds }

    /// The parameters in the report.
    var json: JSONRecord {
        [
            "url": url, "label": label, "rate_per_second": perSecond, "arrivals": pattern.rawValue, "mix": mix.description, "seed": seed,
            "duration_seconds": duration.seconds, "warm_up_seconds": warmUp.seconds, "concurrency_max": maxConcurrency,
            "patience_seconds": patience.seconds, "counts_pushes": countsPushes, "errors_max": maxErrorShare,
            "retry_seconds": retryTime.seconds,
        ]
    }
}
