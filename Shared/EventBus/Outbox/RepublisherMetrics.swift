import FoundationEssentials
import Metrics

/// The metrics of a republisher.
struct RepublisherMetrics: Sendable {
    private let republished = Counter(label: "bus_outbox_resent_total")
    private let confirmed = Counter(label: "bus_outbox_confirmed_total")
    private let expired = Counter(label: "bus_outbox_expired_total")
    private let depth = Gauge(label: "bus_outbox_depth")
    private let oldest = Gauge(label: "bus_outbox_oldest_seconds")
    private let unconfirmedDepth = Gauge(label: "bus_outbox_unconfirmed_depth")
    private let oldestUnconfirmed = Gauge(label: "bus_outbox_unconfirmed_oldest_seconds")

    func record(_ round: Republisher.Round) {
        republished.increment(by: round.republished)
        confirmed.increment(by: round.confirmed)
        expired.increment(by: round.expired)
    }

    func record(_ backlog: OutboxBacklog) {
        depth.record(backlog.waiting)
        oldest.record(age(backlog.oldestWaitingAt))
        unconfirmedDepth.record(backlog.unconfirmed)
        oldestUnconfirmed.record(age(backlog.oldestUnconfirmedAt))
    }

    private func age(_ date: Date?) -> Double { date.map { max(0, Date().timeIntervalSince($0)) } ?? 0 }
}
