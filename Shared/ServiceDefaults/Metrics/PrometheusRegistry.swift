import CoreMetrics
import Synchronization

/// Holds the metrics of a process and writes them in the Prometheus text format, version 0.0.4.
///
/// Labels are for kinds and outcomes, never for ids: at most ``maxSeries`` series are kept. Further ones are not exported, and
/// counted in `heliograph_metrics_dropped_series`.
public final class PrometheusRegistry: Sendable {
    /// The maximum number of series of a process.
    public static let maxSeries = 2_000

    struct SeriesKey: Hashable {
        let name: String
        let labels: String
    }

    struct Family {
        let type: MetricType
        var series: [SeriesKey: any PrometheusSeries] = [:]
    }

    enum MetricType: String {
        case counter, gauge, histogram
    }

    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
        var dropped = 0
    }
    private let state = Mutex(State())

    public init() {}

    /// The series for a name and labels, made by `make` when it is new.
    func series<Series: PrometheusSeries>(
        _ label: String, _ dimensions: [(String, String)], type: MetricType, make: () -> Series
    ) -> Series {
        let name = PrometheusText.name(label, type: type)
        let key = SeriesKey(name: name, labels: PrometheusText.labels(dimensions))
        return state.withLock { state in
            if let existing = state.families[name]?.series[key] as? Series { return existing }
            let fresh = make()
            // With another type than the name's first one, or beyond the limit, the caller gets a series that is not exported.
            guard state.seriesCount < Self.maxSeries, state.families[name].map({ $0.type == type }) ?? true else {
                state.dropped += 1
                return fresh
            }
            state.seriesCount += 1
            state.families[name, default: Family(type: type)].series[key] = fresh
            return fresh
        }
    }

    /// All series, as the body of an answer to `GET /metrics`.
    public func exposition() -> String {
        let (families, dropped) = state.withLock { ($0.families, $0.dropped) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.type.rawValue)\n"
            for (key, series) in family.series.sorted(by: { $0.key.labels < $1.key.labels }) {
                series.write(name: name, labels: key.labels, into: &text)
            }
        }
        text += "# TYPE heliograph_metrics_dropped_series gauge\nheliograph_metrics_dropped_series \(dropped)\n"
        return text
    }
}

/// A metric that writes itself in the text format.
protocol PrometheusSeries: AnyObject, Sendable {
    func write(name: String, labels: String, into text: inout String)
}

/// The grammar of the text format.
enum PrometheusText {
    /// A metric name of `[a-zA-Z_:][a-zA-Z0-9_:]*`, with the suffix of its type.
    static func name(_ label: String, type: PrometheusRegistry.MetricType) -> String {
        var name = String(label.unicodeScalars.map { isNameScalar($0) ? Character($0) : "_" })
        if name.first?.isNumber ?? true { name = "_" + name }
        if type == .counter, !name.hasSuffix("_total") { name += "_total" }
        return name
    }

    /// `key="value",…`, sorted by key, with the three escapes of the format.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { key, value in
            let name = String(key.unicodeScalars.map { isNameScalar($0) && $0 != ":" ? Character($0) : "_" })
            var escaped = ""
            for character in value {
                switch character {
                case "\\": escaped += "\\\\"
                case "\"": escaped += "\\\""
                case "\n": escaped += "\\n"
                default: escaped.append(character)
                }
            }
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    static func line(_ name: String, _ labels: String, _ value: String) -> String {
        labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ":": true
        default: false
        }
    }
}
