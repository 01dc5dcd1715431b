internal import Logging
internal import Metrics
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage

/// Gives a due time to the deliveries whose event has not reached a sender in time, so that ``DueDeliveries`` claims them.
///
/// Without it the pushes of a dead letter would wait for an operator until they expire. Delivery pages have a due time of their own.
struct UnsentDeliveries: Service {
    /// The code of these deliveries while they wait.
    static let code = "event_missing"
    static let interval: Duration = .seconds(30)
    static let batchSize = 1000

    let postgres: PostgresClient
    let limits: DeliveryLimits
    let logger: Logger

    func run() async throws {
        await periodically("scheduling unsent deliveries", every: Self.interval, logger: logger) { try await schedule() }
    }

    /// Gives a due time to all unsent deliveries, longer than a lease from now.
    func schedule() async throws {
        var count = 0
        var found = Self.batchSize
        while found == Self.batchSize {
            found = try await DeliveryRepository(postgres).deferUnsent(
                for: limits.lease + limits.claimAge, code: Self.code, limit: Self.batchSize)
            count += found
        }
        guard count > 0 else { return }
        Counter(label: "push_deliveries_unclaimed_total").increment(by: count)
        logger.warning("deliveries whose events have not arrived are sent without them", metadata: ["count": "\(count)"])
    }
}
