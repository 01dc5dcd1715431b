internal import FCM
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import Push
internal import ServiceDefaults
internal import ServiceLifecycle
internal import WireFormat

/// Records the metrics of everything that delays pushes: queue length and age by lane, the in-flight limit, the quota's balance and
/// the breakers' states.
///
/// It runs every few seconds, so that the metrics cost the pushes nothing.
struct PacingWatch: Service {
    static let interval: Duration = .seconds(5)

    let queue: SendQueue
    let quota: Quota
    let breakers: Breakers
    let fcm: FCMClient
    let logger: Logger

    func run() async throws {
        await periodically("recording the pacing metrics", every: Self.interval, logger: logger) { try await record() }
    }

    /// Records all metrics once.
    func record() async throws {
        recordQueue()
        for (name, state) in breakers.states {
            Gauge(label: "push_breaker_state", dimensions: [("breaker", name.word)]).record(state.rawValue)
        }
        Counter(label: "push_connections_opened_total").increment(by: fcm.takeConnectionsOpened())
        // Last, because a database that does not answer must not hide the other metrics.
        try await recordQuota()
    }

    private func recordQueue() {
        let figures = queue.figures
        for lane in Lane.allCases {
            let waiting = figures.waiting[lane]
            let dimensions = [("lane", lane.rawValue)]
            Gauge(label: "push_queue_length", dimensions: dimensions).record(waiting?.count ?? 0)
            Gauge(label: "push_queue_oldest_seconds", dimensions: dimensions)
                .record(waiting?.since.map { max(0, Date().timeIntervalSince($0)) } ?? 0)
        }
        Gauge(label: "push_in_flight").record(figures.inFlight)
        Gauge(label: "push_in_flight_limit").record(figures.inFlightLimit)
    }

    private func recordQuota() async throws {
        Gauge(label: "push_quota_limit_tokens").record(quota.limits.perSecond)
        guard let balance = try await quota.balance() else { return }
        Gauge(label: "push_quota_tokens", dimensions: [("share", "all")]).record(balance.tokens)
        Gauge(label: "push_quota_tokens", dimensions: [("share", "bulk")]).record(balance.bulkTokens)
    }
}
