public import CoreMetrics

/// Connects swift-metrics to a ``PrometheusRegistry``.
///
/// Timers and recorders that aggregate become histograms; recorders that do not, and meters, become gauges, which have to be recorded again
/// within ``PrometheusRegistry/gaugeLifetime``.
public struct PrometheusMetricsFactory: MetricsFactory {
    private let registry: PrometheusRegistry

    public init(registry: PrometheusRegistry) { self.registry = registry }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        registry.series(label, dimensions, type: .counter) { PrometheusCounter() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        registry.series(label, dimensions, type: .gauge) { PrometheusGauge(clock: registry.clock) }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return registry.series(label, dimensions, type: .gauge) { PrometheusGauge(clock: registry.clock) } }
        return registry.series(label, dimensions, type: .histogram) {
            PrometheusHistogram(bounds: PrometheusHistogram.plainBounds)
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        registry.series(label, dimensions, type: .histogram) {
            PrometheusHistogram(bounds: PrometheusHistogram.secondsBounds)
        }
    }

    // Series stay for the life of the process, as Prometheus expects of counters.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}
