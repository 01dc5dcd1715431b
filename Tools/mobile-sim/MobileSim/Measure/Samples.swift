/// Times in seconds, and their distribution.
struct Samples: Sendable, Equatable {
    private(set) var values: [Double] = []

    init(_ values: [Double] = []) { self.values = values }

    mutating func add(_ value: Double) { values.append(value) }

    /// The smallest value that at least a share `q` of all values does not exceed (nearest rank); nil without values.
    func quantile(_ q: Double) -> Double? { Self.quantile(q, ofSorted: values.sorted()) }

    static func quantile(_ q: Double, ofSorted sorted: [Double]) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let rank = (min(max(q, 0), 1) * Double(sorted.count)).rounded(.up)
        return sorted[min(max(Int(rank), 1), sorted.count) - 1]
    }

    /// The summary for a report.
    struct Summary: Codable, Sendable, Equatable {
        let count: Int
        let mean: Double?
        let p50: Double?
        let p90: Double?
        let p99: Double?
        let max: Double?
        /// The quantiles for 0, 1/100, …, 1, from which the distribution is drawn.
        let curve: [Double]
    }

    var summary: Summary {
        let sorted = values.sorted()
        func at(_ q: Double) -> Double? { Self.quantile(q, ofSorted: sorted).map(Self.rounded) }
        return Summary(
            count: sorted.count, mean: sorted.isEmpty ? nil : Self.rounded(sorted.reduce(0, +) / Double(sorted.count)), p50: at(0.5),
            p90: at(0.9), p99: at(0.99), max: sorted.last.map(Self.rounded), curve: (0...100).compactMap { at(Double($0) / 100) })
    }

    /// Rounded to milliseconds: more digits would not be significant.
    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
