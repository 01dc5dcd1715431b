internal import CommandLineSupport

/// The report as JSON.
extension LoadReport: Report {
    func encode(to encoder: any Encoder) throws {
        let document: JSONRecord = [
            "plan": plan.json, "started_at": startedAt, "measured_seconds": measured.seconds,
            "lateness_milliseconds": summary(of: snapshot.lateness), "kinds": kinds.map(json(of:)),
            "objectives": verdicts.map { ["objective": $0.objective, "found": $0.found, "ok": $0.isMet] as JSONRecord },
            "retries": retries, "ok": isGood, "clean_up": remains?.json,
        ]
        try document.encode(to: encoder)
    }

    private func json(of kind: LoadKind) -> JSONRecord {
        let tally = tally(kind)
        let errors = failures.filter { $0.kind == kind }.map { _, failure, count -> JSONRecord in
            ["reason": failure.reason, "sort": failure.sort.rawValue, "stage": failure.stage?.rawValue, "count": count]
        }
        var latencies: [String: JSONRecord] = [:]
        for stage in stages(of: kind) { latencies[stage.rawValue] = summary(of: self.latencies(kind, stage)) }
        return [
            "kind": kind.rawValue, "asked": tally.asked, "succeeded": tally.succeeded, "failed": tally.count(.failed),
            "refused": tally.count(.refused), "not_started": tally.count(.notStarted), "outcomes": tally.outcomes, "errors": errors,
            "latency_milliseconds": latencies,
        ]
    }

    /// The latencies in milliseconds; nil without latencies.
    private func summary(of histogram: LatencyHistogram) -> JSONRecord? {
        func milliseconds(_ duration: Duration) -> Double { (duration.seconds * 1e6).rounded() / 1e3 }
        guard let mean = histogram.mean else { return nil }
        let quantiles: [(String, Double)] = Self.percentiles.map { percentile in
            (Self.name(percentile).lowercased(), milliseconds(histogram.quantile(percentile / 100) ?? .zero))
        }
        let quantileByName: [String: Double] = Dictionary(uniqueKeysWithValues: quantiles)
        return [
            "count": histogram.count, "per_second": (perSecond(histogram.count) * 1e3).rounded() / 1e3, "mean": milliseconds(mean),
            "max": milliseconds(histogram.max), "quantiles": quantileByName,
        ]
    }
}
