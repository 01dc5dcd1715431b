internal import CommandLineSupport

/// Shows the progress of a load: as a line that is redrawn on a terminal, as a new line every ten seconds elsewhere.
struct LoadProgress: Sendable {
    private static let interval: (terminal: Duration, other: Duration) = (.milliseconds(250), .seconds(10))

    let plan: LoadPlan
    let recorder: LoadRecorder
    let console: Console

    /// Shows the progress until cancelled.
    func run() async {
        let interval = console.progress == nil ? Self.interval.other : Self.interval.terminal
        while (try? await Task.sleep(for: interval)) != nil {
            let text = PrintableText(line(recorder.snapshot, elapsed: ContinuousClock.now - recorder.start))
            if let progress = console.progress { progress(text) } else { console.note(text) }
        }
        console.progress?("")
    }

    private func line(_ snapshot: LoadRecorder.Snapshot, elapsed: Duration) -> String {
        let total = plan.warmUp + plan.duration
        let failed = snapshot.tallies.values.reduce(0) { $0 + $1.asked - $1.succeeded }
        let done = snapshot.tallies.values.reduce(0) { $0 + $1.succeeded }
        let measured = max(0.001, min(elapsed, total).seconds - plan.warmUp.seconds)
        var parts = [
            "\(Self.clock(min(elapsed, total)))/\(Self.clock(total))"
                + (elapsed < plan.warmUp ? " warm-up" : elapsed > total ? " ending" : ""),
            "asked \(HumanUnits.rate(plan.perSecond))/s", "done \(HumanUnits.rate(Double(done) / measured))/s",
            "in flight \(snapshot.inFlight)",
        ]
        for kind in plan.mix.kinds {
            let latencies = snapshot.recent.latencies(of: kind)
            guard let middle = latencies.quantile(0.5), let high = latencies.quantile(0.99) else { continue }
            parts.append("\(kind.rawValue) p50 \(HumanUnits.age(middle)) p99 \(HumanUnits.age(high))")
        }
        parts.append("errors \(failed)")
        return parts.joined(separator: " · ")
    }

    /// `1:05`, `2:00:00`.
    private static func clock(_ duration: Duration) -> String {
        let seconds = max(0, Int(duration.seconds))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = "\(seconds < 3_600 ? "\(seconds / 60)" : two(seconds / 60 % 60)):\(two(seconds % 60))"
        return seconds < 3_600 ? minutes : "\(seconds / 3_600):\(minutes)"
    }
}
