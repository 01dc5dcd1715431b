package import FoundationEssentials

/// Formats numbers and times for people.
package enum HumanUnits {
    /// The placeholder for a missing value.
    package static let nothing = "–"

    /// A duration in its two largest units: `85ms`, `3.2s`, `12s`, `4m 10s`, `2h 5m`, `3d 4h`.
    package static func age(_ duration: Duration) -> String {
        let seconds = max(0, duration.seconds)
        let whole = Int(seconds)
        switch seconds {
        case ..<0.9995: return "\(Int((seconds * 1000).rounded()))ms"
        case ..<9.95: return decimal(seconds) + "s"
        case ..<60: return "\(whole)s"
        case ..<3600: return pair(whole / 60, "m", whole % 60, "s")
        case ..<86_400: return pair(whole / 3600, "h", whole % 3600 / 60, "m")
        default: return pair(whole / 86_400, "d", whole % 86_400 / 3600, "h")
        }
    }

    /// Parses a duration: `300ms`, `1.5s`, `10m`, `24h`, `7d`; nil for anything else.
    package static func duration(_ text: String) -> Duration? {
        let units = [("ms", 0.001), ("s", 1.0), ("m", 60), ("h", 3_600), ("d", 86_400)]
        guard let (unit, seconds) = units.first(where: { text.hasSuffix($0.0) }), text.first?.isNumber == true,
            let number = Double(text.dropLast(unit.count)), number.isFinite, number * seconds < 1e9
        else { return nil }
        return .seconds(number * seconds)
    }

    /// A rate per second: `0`, `0.4`, `12.5`, `1234`.
    package static func rate(_ perSecond: Double) -> String {
        perSecond == 0 ? "0" : perSecond < 99.95 ? decimal(perSecond) : "\(Int(perSecond.rounded()))"
    }

    /// A share, 0 to 1, as a percentage: `0 %`, `12.5 %`; `–` for nil.
    package static func percent(_ share: Double?) -> String { share.map { decimal($0 * 100) + " %" } ?? nothing }

    /// `1 dead letter`, `2 dead letters`.
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// A time to the millisecond, in UTC: `2026-11-21T13:30:05.123Z`.
    package static func timestamp(_ date: Date) -> String {
        // Half a millisecond more, because the format cuts off and a double is often just below.
        Date(timeIntervalSince1970: date.timeIntervalSince1970 + 0.0005)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func pair(_ large: Int, _ largeUnit: String, _ small: Int, _ smallUnit: String) -> String {
        small == 0 ? "\(large)\(largeUnit)" : "\(large)\(largeUnit) \(small)\(smallUnit)"
    }
}

extension Duration {
    /// The duration in seconds.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
