internal import CommandLineSupport
internal import FaceEngine

/// The rates of false refusals and false acceptances by threshold.
struct CalibrationReport: Report {
    /// A number of failures, with the bounds of the rate at which people, or pairs of people, are affected.
    struct Failures {
        let attempts: Int
        let failed: Int
        /// The people, or pairs of people, with at least one failed attempt.
        let affected: Int
        let groups: Int

        var rate: Double { attempts == 0 ? 0 : Double(failed) / Double(attempts) }
        var bounds: BinomialBounds { BinomialBounds(affected, of: groups) }

        init(_ attempts: [CalibrationTrials.Attempts], _ fails: (CalibrationTrials.Distances) -> Bool) {
            let failed = attempts.map { $0.distances.count(where: fails) }
            self.attempts = attempts.reduce(0) { $0 + $1.distances.count }
            self.failed = failed.reduce(0, +)
            affected = failed.count { $0 > 0 }
            groups = attempts.count
        }
    }

    /// A threshold and its error rates.
    struct Point {
        let threshold: Float
        let falseRefusals: Failures
        let falseAcceptances: Failures
    }

    let points: [Point]
    let people: [String]
    let photos: Int
    let refused: [(fault: PhotoFault, count: Int)]
    /// The threshold in force.
    let current: Float

    init(_ trials: CalibrationTrials, _ photos: CalibrationPhotos, current: Float) {
        let range = FaceThresholds.configurable
        let hundredths = Int((range.lowerBound * 100).rounded())...Int((range.upperBound * 100).rounded())
        points = hundredths.map { hundredth in
            let threshold = min(range.upperBound, max(range.lowerBound, Float(hundredth) / 100))
            let rule = SignInDecision(threshold: threshold)
            return Point(
                threshold: threshold, falseRefusals: Failures(trials.genuine) { !rule.matches($0) },
                falseAcceptances: Failures(trials.impostor) { rule.matches($0) })
        }
        people = trials.people
        self.photos = photos.people.reduce(0) { $0 + $1.faces.count } + photos.refused.values.reduce(0, +)
        refused = photos.refused.map { ($0.key, $0.value) }.sorted { ($1.count, "\($0.fault)") < ($0.count, "\($1.fault)") }
        self.current = current
    }

    func encode(to encoder: any Encoder) throws {
        func record(_ failures: Failures, _ group: String) -> JSONRecord {
            [
                "attempts": failures.attempts, "failed": failures.failed, "rate": failures.rate, group: failures.groups,
                "\(group)_affected": failures.affected, "lower_bound": failures.bounds.lower, "upper_bound": failures.bounds.upper,
            ]
        }
        let report: JSONRecord = [
            "people": people.count, "photos": photos, "threshold": current, "confidence": BinomialBounds.confidence,
            "refused_photos": refused.map { refusal -> JSONRecord in ["reason": "\(refusal.fault)", "count": refusal.count] },
            "points": points.map { point -> JSONRecord in
                [
                    "threshold": point.threshold, "false_refusals": record(point.falseRefusals, "people"),
                    "false_acceptances": record(point.falseAcceptances, "pairs"),
                ]
            },
        ]
        try report.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        let unusable = refused.reduce(0) { $0 + $1.count }
        var lines: [PrintableText] = ["\(photos) photos, of which \(unusable) cannot be used; \(people.count) people with enough photos"]
        if !refused.isEmpty { lines.append("refused photos: \(refused.map { "\($0.count) \($0.fault)" }.joined(separator: ", "))") }
        var table = Table([
            "THRESHOLD", .right("REFUSED"), .right("OF"), .right("RATE"), .right("PEOPLE, 95 %"), .right("ACCEPTED"), .right("OF"),
            .right("RATE"), .right("PAIRS, 95 %"),
        ])
        for point in points {
            table.add(
                [.init(Self.number(Double(point.threshold), 2) + (isInForce(point) ? " in force" : ""))]
                    + cells(point.falseRefusals) + cells(point.falseAcceptances))
        }
        return lines + [""] + table.lines(style)
    }

    /// Returns whether the threshold in force is this one, to a hundredth.
    func isInForce(_ point: Point) -> Bool { abs(point.threshold - current) < 0.005 }

    private func cells(_ failures: Failures) -> [Table.Cell] {
        let bounds = failures.bounds
        return [
            .count(failures.failed, .warning), .init("\(failures.attempts)"), .init(Self.percent(failures.rate)),
            .init("\(Self.percent(bounds.lower))–\(Self.percent(bounds.upper))"),
        ]
    }

    /// Returns a share in percent with three digits after the point.
    static func percent(_ share: Double) -> String { number(share * 100, 3) + " %" }

    static func number(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        guard digits > 0 else { return "\(scaled)" }
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
