import CoreMetrics
import ServiceDefaults
import Testing

@Suite struct PrometheusTests {
    private let registry = PrometheusRegistry()
    private var factory: PrometheusMetricsFactory { PrometheusMetricsFactory(registry: registry) }

    @Test func `a counter shows its sum under its labels`() {
        let counter = factory.makeCounter(label: "bus.published", dimensions: [("topic", "ekyc.requested")])
        counter.increment(by: 2)
        counter.increment(by: 3)
        #expect(registry.exposition().contains("# TYPE bus_published_total counter\nbus_published_total{topic=\"ekyc.requested\"} 5\n"))
    }

    @Test func `the same name and labels are one series`() {
        factory.makeCounter(label: "a", dimensions: [("x", "1"), ("y", "2")]).increment(by: 1)
        factory.makeCounter(label: "a", dimensions: [("y", "2"), ("x", "1")]).increment(by: 1)
        #expect(registry.exposition().contains("a_total{x=\"1\",y=\"2\"} 2\n"))
    }

    @Test func `a timer is a histogram in seconds with cumulated buckets`() {
        let timer = factory.makeTimer(label: "handle_seconds", dimensions: [])
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(700_000_000)
        let text = registry.exposition()
        #expect(text.contains("handle_seconds_bucket{le=\"0.0025\"} 1\n"))
        #expect(text.contains("handle_seconds_bucket{le=\"1.0\"} 2\n"))
        #expect(text.contains("handle_seconds_bucket{le=\"+Inf\"} 2\nhandle_seconds_sum 0.702\nhandle_seconds_count 2\n"))
    }

    @Test func `label values are escaped`() {
        factory.makeMeter(label: "m", dimensions: [("k", "a\"b\\c\nd")]).set(1.5)
        #expect(registry.exposition().contains("m{k=\"a\\\"b\\\\c\\nd\"} 1.5\n"))
    }

    @Test func `series beyond the limit are dropped and counted`() {
        for number in 0..<(PrometheusRegistry.maxSeries + 5) {
            factory.makeCounter(label: "c", dimensions: [("id", "\(number)")]).increment(by: 1)
        }
        #expect(registry.exposition().contains("heliograph_metrics_dropped_series 5\n"))
    }
}
