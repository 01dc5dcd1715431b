import Foundation

/// A measured number with its reference from the same run; printed as one line of JSON.
struct Figure: Encodable, Sendable {
    let name: String
    let value: Double
    let unit: String
    /// A description of the reference; nil for a figure without one.
    let reference: String?
    let referenceValue: Double?
    /// ``value`` divided by ``referenceValue``.
    let ratio: Double?
    /// The ratios of the rounds; ``ratio`` is their median. nil for a figure that is measured once.
    let spread: Spread?
    /// The limit for the ratio, or for the value of a figure without reference: the minimum when more is better, else the maximum.
    let bar: Double?
    /// The limit for the value of a figure with a reference; the maximum.
    let maxValue: Double?
    let ok: Bool
    /// Which change is an improvement: `more` or `less`.
    let better: String
    /// Parts of the value and of the reference's by name, in the figure's unit unless the name says another.
    var parts: [String: Double]?

    enum CodingKeys: String, CodingKey {
        case name, value, unit, reference, ratio, spread, bar, ok, better, parts
        case referenceValue = "reference_value"
        case maxValue = "max_value"
    }

    /// How far the ratios of alternating rounds are apart.
    struct Spread: Encodable, Equatable, Sendable {
        let lowest, lowerQuartile, upperQuartile, highest: Double
        let rounds: Int

        enum CodingKeys: String, CodingKey {
            case lowest, highest, rounds
            case lowerQuartile = "lower_quartile"
            case upperQuartile = "upper_quartile"
        }

        /// - Parameter values: At least one.
        init(of values: [Double]) {
            let sorted = values.sorted()
            func quantile(_ share: Double) -> Double { sorted[Int((Double(sorted.count - 1) * share).rounded())].rounded(toPlaces: 3) }
            (lowest, lowerQuartile) = (quantile(0), quantile(0.25))
            (upperQuartile, highest) = (quantile(0.75), quantile(1))
            rounds = sorted.count
        }
    }

    /// Makes a figure with a reference.
    ///
    /// - Parameter ratios: The ratios of alternating rounds; their median is reported, which is more precise. By default the ratio of the
    ///   two values is reported.
    init(
        _ name: String, _ value: Double, unit: String, reference: String, referenceValue: Double, ratios: [Double] = [],
        bar: Double?, maxValue: Double? = nil, moreIsBetter: Bool = true
    ) {
        let ratio = ratios.isEmpty ? value / referenceValue : ratios.median
        spread = ratios.isEmpty ? nil : Spread(of: ratios)
        self.maxValue = maxValue
        self.name = name
        self.value = value.rounded(toPlaces: 3)
        self.unit = unit
        self.reference = reference
        self.referenceValue = referenceValue.rounded(toPlaces: 3)
        self.ratio = ratio.rounded(toPlaces: 3)
        self.bar = bar
        ok = (bar.map { moreIsBetter ? ratio >= $0 : ratio <= $0 } ?? true) && (maxValue.map { value <= $0 } ?? true)
        better = moreIsBetter ? "more" : "less"
    }

    /// Makes a figure of alternating rounds: the medians of both sides, and the median of the rounds' ratios with its spread.
    init(
        _ name: String, _ ours: [Double], unit: String, reference: String, _ theirs: [Double], bar: Double?, maxValue: Double? = nil,
        moreIsBetter: Bool = true
    ) {
        self.init(
            name, ours.median, unit: unit, reference: reference, referenceValue: theirs.median, ratios: zip(ours, theirs).map { $0 / $1 },
            bar: bar, maxValue: maxValue, moreIsBetter: moreIsBetter)
    }

    /// Makes a figure without a reference.
    init(_ name: String, _ value: Double, unit: String, bar: Double? = nil, moreIsBetter: Bool = true) {
        self.name = name
        self.value = value.rounded(toPlaces: 3)
        self.unit = unit
        reference = nil
        referenceValue = nil
        ratio = nil
        spread = nil
        maxValue = nil
        self.bar = bar
        ok = bar.map { moreIsBetter ? value >= $0 : value <= $0 } ?? true
        better = moreIsBetter ? "more" : "less"
    }

    /// The figure as one line of JSON.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (self * scale).rounded() / scale
    }
}

extension [Double] {
    /// The median; of an even number of values, the upper of the two middle ones. NaN without values.
    var median: Double { isEmpty ? .nan : sorted()[count / 2] }
}
