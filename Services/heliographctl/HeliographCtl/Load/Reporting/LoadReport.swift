internal import Foundation

/// What a load showed.
struct LoadReport {
    /// Whether an objective was met.
    struct Verdict {
        /// As somebody wrote it.
        let objective: String
        /// What was found, as people write it.
        let found: String
        let isMet: Bool
    }

    let plan: LoadPlan
    let startedAt: Date
    /// How long was measured; less than planned when somebody stopped it.
    let measured: Duration
    let snapshot: LoadRecorder.Snapshot
    /// Nil when nothing was cleaned up.
    let remains: LoadCleaner.Remains?

    /// The percentiles that are told, in percent.
    static let percentiles = [50.0, 90, 95, 99, 99.9]

    /// What was done at all, in the order of the list.
    var kinds: [LoadKind] { plan.mix.kinds }

    func tally(_ kind: LoadKind) -> LoadTally { snapshot.tallies[kind] ?? LoadTally() }

    func latencies(_ kind: LoadKind, _ stage: LoadStage) -> LatencyHistogram {
        tally(kind).latencies[stage] ?? LatencyHistogram()
    }

    /// What is measured of a kind in this load.
    func stages(of kind: LoadKind) -> [LoadStage] { kind.stages.filter { $0 != .push || plan.countsPushes } }

    var asked: Int { kinds.reduce(0) { $0 + tally($1).asked } }
    var succeeded: Int { kinds.reduce(0) { $0 + tally($1).succeeded } }

    /// All reasons for which something came to nothing, the most frequent first.
    var failures: [(kind: LoadKind, failure: LoadFailure, count: Int)] {
        kinds.flatMap { kind in tally(kind).failures.map { (kind, $0.key, $0.value) } }
            .sorted { ($1.2, $0.0.rawValue, $0.1.reason) < ($0.2, $1.0.rawValue, $1.1.reason) }
    }

    /// The objectives, and the share of errors that is allowed.
    var verdicts: [Verdict] {
        let share = asked > 0 ? Double(asked - succeeded) / Double(asked) : nil
        let errors = Verdict(
            objective: "errors ≤ \(HumanUnits.percent(plan.errorsMax))", found: HumanUnits.percent(share),
            isMet: share.map { $0 <= plan.errorsMax } ?? false)
        return plan.objectives.map { objective in
            let found = latencies(objective.kind, objective.stage).quantile(objective.percentile / 100)
            return Verdict(
                objective: objective.text, found: found.map(HumanUnits.age) ?? HumanUnits.nothing,
                isMet: found.map { $0 < objective.limit } ?? false)
        } + [errors]
    }

    var isGood: Bool { verdicts.allSatisfy(\.isMet) }

    /// What stays on the installation, as sentences.
    var leftBehind: [String] {
        guard let remains else { return ["Nothing was cleaned up, because of --keep: accounts, jobs, events and photos."] }
        var lines = [
            "\(HumanUnits.count(remains.accounts, "account")) (load-…@example.org), with face templates: the API deletes no accounts.",
            "Records of sessions, and of what was deleted: gone after 24 hours.",
        ]
        if remains.failed > 0 { lines.append("\(HumanUnits.count(remains.failed, "thing")) that could not be taken away.") }
        if plan.countsPushes { lines.append("Phones and pushes in the FCM emulator, until it is restarted.") }
        return lines
    }
}
