import Foundation
import TestSupport
import Testing

/// What the owner noticed of an attack.
struct AbuseReport: Sendable {
    /// The finding of the review, such as N1, and what strangers do.
    let attack: String

    /// Notes a fact, and fails the test if it is not as it should be.
    func note(
        _ noticed: String, _ value: String, bar: String, calm: String = "", holds: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        ReportTable.abuse.append([attack, noticed, calm, value, bar, holds ? "holds" : "MISSED"])
        #expect(holds, "\(attack): \(noticed): \(value), calm \(calm), bar \(bar)", sourceLocation: sourceLocation)
    }

    /// Notes times beside those without an attack; in the short form only whether all came to an end.
    func note(
        _ noticed: String, _ attacked: Times, calm: Times, most factor: Double, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isShort = AbuseScale.current.isShort
        let isWithin = isShort ? attacked.p99.isFinite : attacked.p99 <= factor * calm.p99
        note(
            noticed, attacked.text, bar: isShort ? "comes to an end" : "p99 ≤ \(factor.formatted()) × calm", calm: calm.text,
            holds: isWithin, sourceLocation: sourceLocation)
    }
}

/// Times of one thing, in milliseconds; what did not come to an end took for ever.
struct Times: Sendable {
    private let sorted: [Double]

    init(_ milliseconds: [Double]) { sorted = milliseconds.sorted() }

    var p99: Double { percentile(99) }

    var text: String {
        "p50 \(Self.format(percentile(50))) p99 \(Self.format(p99)) of \(sorted.count)"
    }

    private func percentile(_ percent: Int) -> Double {
        sorted.isEmpty ? .infinity : sorted[Swift.min(sorted.count - 1, sorted.count * percent / 100)]
    }

    private static func format(_ milliseconds: Double) -> String {
        milliseconds.isFinite ? "\(Int(milliseconds.rounded())) ms" : "never"
    }
}
