import Metrics

/// The numbers of one consumer of one stream. Labels are names of streams and groups, never ids.
struct ConsumerMetrics: Sendable {
    let delivered: Counter
    let claimed: Counter
    let lost: Counter
    let ownershipLost: Counter
    let readerReconnects: Counter
    let handled: Counter
    let duplicates: Counter
    let failed: Counter
    let unreadable: Counter
    let handling: Timer
    let inHand: Gauge
    let lastRead: Gauge

    init(stream: String, group: String) {
        let labels = [("stream", stream), ("group", group)]
        func counter(_ name: String, _ more: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: labels + more)
        }
        delivered = counter("bus_delivered_total")
        claimed = counter("bus_claimed_total")
        lost = counter("bus_lost_total")
        ownershipLost = counter("bus_ownership_lost_total")
        readerReconnects = counter("bus_reconnects_total")
        handled = counter("bus_handled_total", [("result", "ok")])
        duplicates = counter("bus_handled_total", [("result", "duplicate")])
        failed = counter("bus_handled_total", [("result", "failed")])
        unreadable = counter("bus_handled_total", [("result", "unreadable")])
        handling = Timer(label: "bus_handle_seconds", dimensions: labels)
        inHand = Gauge(label: "bus_inflight", dimensions: labels)
        lastRead = Gauge(label: "bus_read_loop_last_progress_seconds", dimensions: labels)
    }
}

/// The numbers of a relay.
struct RelayMetrics: Sendable {
    let published = Counter(label: "bus_outbox_published_total")
    let refused = Counter(label: "bus_outbox_refused_total")
    let failures = Counter(label: "bus_outbox_failures_total")
    let relaying = Timer(label: "bus_outbox_relay_seconds")
}
