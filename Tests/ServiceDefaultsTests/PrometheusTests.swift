import CoreMetrics
import TestSupport
import Testing

@testable import ServiceDefaults

@Suite struct PrometheusTests {
    private let clock = ManualClock()
    private let registry: PrometheusRegistry
    private var factory: PrometheusMetricsFactory { PrometheusMetricsFactory(registry: registry) }

    init() { registry = PrometheusRegistry(clock: clock) }

    private func gauge(_ name: String) -> Gauge { Gauge(label: name, factory: factory) }

    @Test func `a gauge that is not recorded any more is left out after its lifetime, and is back with the next value`() {
        gauge("redis_memory_used_bytes").record(900)
        clock.advance(by: PrometheusRegistry.gaugeLifetime)
        #expect(registry.exposition().contains("redis_memory_used_bytes 900.0\n"))
        clock.advance(by: .seconds(1))
        #expect(!registry.exposition().contains("\nredis_memory_used_bytes "))
        gauge("redis_memory_used_bytes").record(800)
        #expect(registry.exposition().contains("redis_memory_used_bytes 800.0\n"))
    }

    @Test func `an age that is not recorded any more grows by the clock`() {
        gauge("bus_outbox_oldest_seconds").record(5)
        clock.advance(by: PrometheusRegistry.gaugeLifetime)
        #expect(registry.exposition().contains("bus_outbox_oldest_seconds 5.0\n"))
        clock.advance(by: .seconds(40))
        #expect(registry.exposition().contains("bus_outbox_oldest_seconds 105.0\n"))
        gauge("bus_outbox_oldest_seconds").record(0)
        #expect(registry.exposition().contains("bus_outbox_oldest_seconds 0.0\n"))
    }

    @Test func `a gauge that was never recorded has no value`() {
        let queue = (gauge("push_queue_length"), gauge("push_queue_oldest_seconds"))
        #expect(!registry.exposition().contains("\npush_queue"))
        withExtendedLifetime(queue) {}
    }

    @Test func `a gauge that is recorded seldom has a lifetime of its own`() {
        registry.setLifetime(.seconds(1_500), ofGauge: "sealed_values")
        gauge("sealed_values").record(7)
        clock.advance(by: .seconds(1_500))
        #expect(registry.exposition().contains("sealed_values 7.0\n"))
        clock.advance(by: .seconds(1))
        #expect(!registry.exposition().contains("\nsealed_values "))
    }

    @Test func `counters and histograms stay`() {
        Counter(label: "c", factory: factory).increment()
        Timer(label: "t_seconds", factory: factory).recordSeconds(1)
        clock.advance(by: .seconds(100_000))
        #expect(registry.exposition().contains("c_total 1\n"))
        #expect(registry.exposition().contains("t_seconds_count 1\n"))
    }

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
