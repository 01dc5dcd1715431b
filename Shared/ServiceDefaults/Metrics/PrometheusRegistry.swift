public import AsyncPrimitives
import CoreMetrics
import Synchronization

/// Holds the metrics of a process and writes them in the Prometheus text format, version 0.0.4.
///
/// Labels are for kinds and outcomes, never for ids: at most ``maxSeries`` series are kept. Further ones are not exported, and
/// counted in `heliograph_metrics_dropped_series`.
public final class PrometheusRegistry: Sendable {
    /// The maximum number of series of a process.
    public static let maxSeries = 2_000
    /// Time after which a gauge that was not recorded again is unknown; longer than three times the usual interval of 15 seconds.
    public static let gaugeLifetime: Duration = .seconds(60)

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
        /// By the name of the metric, where it is not ``gaugeLifetime``.
        var lifetimes: [String: Duration] = [:]
    }
    private let state = Mutex(State())
    let clock: any MonotonicClock

    /// Creates a registry without series.
    ///
    /// - Parameter clock: measures the ages of gauges.
    public init(clock: any MonotonicClock = ContinuousClock()) { self.clock = clock }

    /// Sets the time after which a gauge that was not recorded again is unknown; for gauges that are recorded seldom.
    public func setLifetime(_ lifetime: Duration, ofGauge name: String) { state.withLock { $0.lifetimes[name] = lifetime } }

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
        let (families, dropped, lifetimes) = state.withLock { ($0.families, $0.dropped, $0.lifetimes) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.type.rawValue)\n"
            for (key, series) in family.series.sorted(by: { $0.key.labels < $1.key.labels }) {
                series.write(name: name, labels: key.labels, lifetime: lifetimes[name] ?? Self.gaugeLifetime, into: &text)
            }
        }
        return text + PrometheusText.gauge("heliograph_metrics_dropped_series", [("", dropped)])
    }
}

/// A metric that writes itself in the text format.
protocol PrometheusSeries: AnyObject, Sendable {
    /// - Parameter lifetime: The time after which a gauge that was not recorded again is unknown.
    func write(name: String, labels: String, lifetime: Duration, into text: inout String)
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

    /// A gauge that is measured at the scrape, with its series by their labels.
    static func gauge(_ name: String, _ series: [(labels: String, value: Int)]) -> String {
        "# TYPE \(name) gauge\n" + series.map { line(name, $0.labels, "\($0.value)") }.joined()
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
