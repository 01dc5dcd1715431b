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
    /// The limit for the ratio, or for the value of a figure without reference: the minimum when more is better, else the maximum.
    let bar: Double?
    let ok: Bool
    /// Which change is an improvement: `more` or `less`.
    let better: String

    enum CodingKeys: String, CodingKey {
        case name, value, unit, reference, ratio, bar, ok, better
        case referenceValue = "reference_value"
    }

    /// Makes a figure with a reference.
    ///
    /// - Parameter ratio: The ratio to report; by default that of the two values. The median ratio of alternating rounds is more
    ///   precise.
    init(
        _ name: String, _ value: Double, unit: String, reference: String, referenceValue: Double, ratio: Double? = nil,
        bar: Double?, moreIsBetter: Bool = true
    ) {
        let ratio = ratio ?? value / referenceValue
        self.name = name
        self.value = value.rounded(toPlaces: 3)
        self.unit = unit
        self.reference = reference
        self.referenceValue = referenceValue.rounded(toPlaces: 3)
        self.ratio = ratio.rounded(toPlaces: 3)
        self.bar = bar
        ok = bar.map { moreIsBetter ? ratio >= $0 : ratio <= $0 } ?? true
        better = moreIsBetter ? "more" : "less"
    }

    /// Makes a figure without a reference.
    init(_ name: String, _ value: Double, unit: String, bar: Double? = nil, moreIsBetter: Bool = true) {
        self.name = name
        self.value = value.rounded(toPlaces: 3)
        self.unit = unit
        reference = nil
        referenceValue = nil
        ratio = nil
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
    /// The median; of an even number of values, the upper of the two middle ones. NaN when there are none.
    var median: Double { isEmpty ? .nan : sorted()[count / 2] }
}
