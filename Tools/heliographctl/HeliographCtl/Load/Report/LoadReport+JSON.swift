internal import Foundation

/// The report as JSON.
extension LoadReport: Encodable {
    private struct Document: Encodable {
        let plan: LoadPlan
        let startedAt: Date
        let measuredSeconds: Double
        let latenessMilliseconds: Latencies?
        let kinds: [Kind]
        let objectives: [Objective]
        let ok: Bool
        let cleanUp: LoadCleanup.Remains?
    }

    private struct Kind: Encodable {
        let kind: LoadKind
        let asked: Int
        let succeeded: Int
        let failed: Int
        let refused: Int
        let notStarted: Int
        let outcomes: [String: Int]
        let errors: [Failure]
        let latencyMilliseconds: [LoadStage: Latencies]
    }

    private struct Failure: Encodable {
        let reason: String
        let sort: LoadFailure.Sort
        let stage: LoadStage?
        let count: Int
    }

    private struct Objective: Encodable {
        let objective: String
        let found: String
        let ok: Bool
    }

    /// Summary of latencies, in milliseconds.
    private struct Latencies: Encodable {
        let count: Int
        let perSecond: Double
        let mean: Double
        let max: Double
        /// Quantiles by name: `p50`.
        let quantiles: [String: Double]

        init?(_ histogram: LatencyHistogram, perSecond: Double) {
            guard let mean = histogram.mean else { return nil }
            count = histogram.count
            self.perSecond = (perSecond * 1e3).rounded() / 1e3
            self.mean = Self.milliseconds(mean)
            max = Self.milliseconds(histogram.max)
            let pairs = LoadReport.percentiles.map { percentile in
                (LoadReport.name(percentile).lowercased(), Self.milliseconds(histogram.quantile(percentile / 100) ?? .zero))
            }
            quantiles = Dictionary(uniqueKeysWithValues: pairs)
        }

        private static func milliseconds(_ duration: Duration) -> Double { (duration.seconds * 1e6).rounded() / 1e3 }
    }

    func encode(to encoder: any Encoder) throws {
        let kinds = kinds.map { kind in
            let tally = tally(kind)
            let latencies = stages(of: kind).compactMap { stage in
                let histogram = self.latencies(kind, stage)
                return Latencies(histogram, perSecond: perSecond(histogram.count)).map { (stage, $0) }
            }
            return Kind(
                kind: kind, asked: tally.asked, succeeded: tally.succeeded, failed: tally.count(.failed),
                refused: tally.count(.refused), notStarted: tally.count(.notStarted), outcomes: tally.outcomes,
                errors: failures.filter { $0.kind == kind }.map {
                    Failure(reason: $0.failure.reason, sort: $0.failure.sort, stage: $0.failure.stage, count: $0.count)
                },
                latencyMilliseconds: Dictionary(uniqueKeysWithValues: latencies))
        }
        try Document(
            plan: plan, startedAt: startedAt, measuredSeconds: measured.seconds,
            latenessMilliseconds: Latencies(snapshot.lateness, perSecond: perSecond(snapshot.lateness.count)), kinds: kinds,
            objectives: verdicts.map { Objective(objective: $0.objective, found: $0.found, ok: $0.isMet) }, ok: isGood,
            cleanUp: remains
        ).encode(to: encoder)
    }
}
