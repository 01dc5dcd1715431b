public import CoreMetrics

/// Connects swift-metrics to a ``PrometheusRegistry``.
///
/// Timers and recorders that aggregate become histograms; recorders that do not, and meters, become gauges, which have to be recorded again
/// within ``PrometheusRegistry/gaugeLifetime``.
public struct PrometheusMetricsFactory: MetricsFactory {
    private let registry: PrometheusRegistry

    /// Creates a factory whose metrics appear in `registry`.
    public init(registry: PrometheusRegistry) { self.registry = registry }

    /// Returns the counter with that name and these labels; beyond ``PrometheusRegistry/maxSeries`` a counter that is not exported.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        registry.series(label, dimensions, type: .counter) { PrometheusCounter() }
    }

    /// Returns the gauge with that name and these labels, which lasts ``PrometheusRegistry/gaugeLifetime`` from each record.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        registry.series(label, dimensions, type: .gauge) { PrometheusGauge(clock: registry.clock) }
    }

    /// Returns the histogram with that name and these labels, or the gauge if `aggregate` is false.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return registry.series(label, dimensions, type: .gauge) { PrometheusGauge(clock: registry.clock) } }
        return registry.series(label, dimensions, type: .histogram) {
            PrometheusHistogram(bounds: PrometheusHistogram.plainBounds)
        }
    }

    /// Returns the histogram with that name and these labels, whose unit is the second.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        registry.series(label, dimensions, type: .histogram) {
            PrometheusHistogram(bounds: PrometheusHistogram.secondsBounds)
        }
    }

    // Series stay for the life of the process, as Prometheus expects of counters.
    /// Does nothing, so that the series keeps its value.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing; a gauge that is not recorded again disappears by itself.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing, so that the series keeps its values.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing, so that the series keeps its values.
    public func destroyTimer(_ handler: any TimerHandler) {}
}
