internal import Logging
internal import Metrics
internal import PostgresClient
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage

/// Finds the deliveries that no event has brought to a sender in time, and leaves them to ``DueDeliveries``, which claims them.
///
/// Without it the pushes of a dead letter would wait for an operator until they expire. Pages have a time of their own for this.
struct UnsentDeliveries: Service {
    /// What the ledger says of them while they wait.
    static let code = "event_missing"
    static let interval: Duration = .seconds(30)
    static let batchSize = 1000

    let postgres: PostgresClient
    let limits: DeliveryLimits
    let logger: Logger

    func run() async throws {
        await periodically("looking for unsent deliveries", every: Self.interval, logger: logger) { try await look() }
    }

    /// Makes all of them due once.
    func look() async throws {
        var count = 0
        var found = Self.batchSize
        while found == Self.batchSize {
            found = try await DeliveryRepository(postgres).putOffUnsent(
                for: limits.lease + limits.claimAge, code: Self.code, limit: Self.batchSize)
            count += found
        }
        guard count > 0 else { return }
        Counter(label: "push_deliveries_unclaimed_total").increment(by: count)
        logger.warning("deliveries whose events have not come are sent without them", metadata: ["count": "\(count)"])
    }
}
