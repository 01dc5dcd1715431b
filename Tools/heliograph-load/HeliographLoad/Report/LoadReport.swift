internal import CommandLineSupport
internal import Foundation

/// The results of a load.
struct LoadReport {
    /// An objective and whether it was met.
    struct Verdict {
        /// The objective as written by the operator.
        let objective: String
        /// The measured value, formatted.
        let found: String
        let isMet: Bool
    }

    let plan: LoadPlan
    let startedAt: Date
    /// The measured time; less than planned when the load was stopped.
    let measured: Duration
    let snapshot: LoadRecorder.Snapshot
    /// Nil without a clean-up.
    let remains: LoadCleanup.Remains?
    /// The numbers of requests that were sent again, by the failure before.
    var retries: [String: Int] = [:]

    /// The reported percentiles, in percent.
    static let percentiles = [50.0, 90, 95, 99, 99.9]

    /// The kinds in the mix, in the order of `LoadKind`.
    var kinds: [LoadKind] { plan.mix.kinds }

    func tally(_ kind: LoadKind) -> LoadTally { snapshot.tallies[kind] ?? LoadTally() }

    func latencies(_ kind: LoadKind, _ stage: LoadStage) -> LatencyHistogram {
        tally(kind).latencies[stage] ?? LatencyHistogram()
    }

    /// The measured stages of a kind in this load.
    func stages(of kind: LoadKind) -> [LoadStage] { kind.stages.filter { $0 != .push || plan.countsPushes } }

    var asked: Int { kinds.reduce(0) { $0 + tally($1).asked } }
    var succeeded: Int { kinds.reduce(0) { $0 + tally($1).succeeded } }

    /// All failures with their counts, the most frequent first.
    var failures: [(kind: LoadKind, failure: LoadFailure, count: Int)] {
        kinds.flatMap { kind in tally(kind).failures.map { (kind, $0.key, $0.value) } }
            .sorted { ($1.2, $0.0.rawValue, $0.1.reason) < ($0.2, $1.0.rawValue, $1.1.reason) }
    }

    /// The verdicts on the objectives and on the allowed share of errors.
    var verdicts: [Verdict] {
        let share = asked > 0 ? Double(asked - succeeded) / Double(asked) : nil
        let errors = Verdict(
            objective: "errors ≤ \(HumanUnits.percent(plan.maxErrorShare))", found: HumanUnits.percent(share),
            isMet: share.map { $0 <= plan.maxErrorShare } ?? false)
        return plan.objectives.map { objective in
            let found = latencies(objective.kind, objective.stage).quantile(objective.percentile / 100)
            return Verdict(
                objective: objective.text, found: found.map(HumanUnits.age) ?? HumanUnits.nothing,
                isMet: found.map { $0 < objective.limit } ?? false)
        } + [errors]
    }

    var isGood: Bool { verdicts.allSatisfy(\.isMet) }

    /// The data that stays on the installation, in sentences.
    var leftBehind: [String] {
        guard let remains else { return ["Nothing was cleaned up, because of --keep: accounts, jobs, events and photos."] }
        var lines = [
            "\(HumanUnits.count(remains.accounts, "account")) (load-…@example.org), with face templates: the API deletes no accounts.",
            "Records of sessions and deletions, for 24 hours.",
        ]
        if remains.failed > 0 { lines.append("\(HumanUnits.count(remains.failed, "request")) of the clean-up failed.") }
        if plan.countsPushes { lines.append("Phones and pushes in the FCM emulator, until it is restarted.") }
        return lines
    }
}
