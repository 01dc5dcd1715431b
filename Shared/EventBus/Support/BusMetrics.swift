import FoundationEssentials
import Metrics

/// The metrics of one consumer of one stream, and of its group. Labels are names of streams and groups, never ids.
final class ConsumerMetrics: Sendable {
    let delivered: Counter
    let claimed: Counter
    let lost: Counter
    let ownershipLost: Counter
    let readerReconnects: Counter
    let handled: Counter
    let duplicates: Counter
    let failed: Counter
    let deferred: Counter
    let outages: Counter
    let unreadable: Counter
    let dead: Counter
    let deadExpired: Counter
    let settlementFailures: Counter
    let resumed: Counter
    let trimmed: Counter
    let handling: Timer
    let inHand: Gauge
    let silence: Gauge
    private let group: GroupGauges

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
        deferred = counter("bus_handled_total", [("result", "deferred")])
        outages = counter("bus_handled_total", [("result", "outage")])
        unreadable = counter("bus_handled_total", [("result", "unreadable")])
        dead = counter("bus_dead_letters_total")
        deadExpired = counter("bus_dead_letters_expired_total")
        settlementFailures = counter("bus_settlement_failures_total")
        resumed = counter("bus_retries_resumed_total")
        trimmed = counter("bus_trimmed_total")
        handling = Timer(label: "bus_handle_seconds", dimensions: labels)
        inHand = Gauge(label: "bus_inflight", dimensions: labels)
        silence = Gauge(label: "bus_read_loop_silence_seconds", dimensions: labels)
        self.group = GroupGauges(labels)
    }

    /// Counts the result of handling an entry.
    func count(_ result: ProcessingResult, _ decision: DispositionPolicy.Decision) {
        switch (result, decision) {
        case (.handled, _): handled.increment()
        case (.duplicate, _): duplicates.increment()
        case (.unreadable, _): unreadable.increment()
        case (.failed, .retry(.deferral, _, _)): deferred.increment()
        case (.failed, .retry(.outage, _, _)): outages.increment()
        case (.failed, .retry(.failure, _, _)), (.failed, .deadLetter): failed.increment()
        // They are handled again, which is counted then.
        case (.failed, .handleAlone), (.failed, .release), (.failed, .acknowledge): break
        }
    }

    /// Records the status of the group. Each of its consumers does; they record the same.
    func record(_ status: GroupStatus) { group.record(status) }

    /// Records the dead letters of the group, as each of its consumers does.
    func record(_ deadLetters: DeadLetterBacklog) { group.record(deadLetters) }
}

/// The status of a group, as gauges.
private struct GroupGauges: Sendable {
    let length: Gauge
    let undelivered: Gauge
    let oldestUndelivered: Gauge
    let pending: Gauge
    let oldestPending: Gauge
    let retrying: Gauge
    let dead: Gauge
    let oldestDead: Gauge
    let consumers: Gauge

    init(_ labels: [(String, String)]) {
        func gauge(_ name: String) -> Gauge { Gauge(label: name, dimensions: labels) }
        length = gauge("bus_stream_length")
        undelivered = gauge("bus_undelivered")
        oldestUndelivered = gauge("bus_oldest_undelivered_seconds")
        pending = gauge("bus_pending")
        oldestPending = gauge("bus_oldest_pending_seconds")
        retrying = gauge("bus_retry_depth")
        dead = gauge("bus_dead_letter_depth")
        oldestDead = gauge("bus_dead_letter_oldest_seconds")
        consumers = gauge("bus_consumers")
    }

    func record(_ status: GroupStatus) {
        length.record(status.length)
        undelivered.record(status.undelivered)
        oldestUndelivered.record((status.oldestUndeliveredAge ?? .zero) / .seconds(1))
        pending.record(status.pending)
        oldestPending.record((status.oldestPendingAge ?? .zero) / .seconds(1))
        retrying.record(status.retrying)
        consumers.record(status.consumers.count)
    }

    func record(_ deadLetters: DeadLetterBacklog) {
        dead.record(deadLetters.count)
        oldestDead.record(deadLetters.oldestAt.map { max(0, -$0.timeIntervalSinceNow) } ?? 0)
    }
}

/// The metrics of a relay.
struct RelayMetrics: Sendable {
    let published = Counter(label: "bus_outbox_published_total")
    let refused = Counter(label: "bus_outbox_refused_total")
    let failures = Counter(label: "bus_outbox_failures_total")
    let relaying = Timer(label: "bus_outbox_relay_seconds")
}
