public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Storage
public import WireFormat

/// Withdraws the pending pushes of an installation whose user has signed out.
///
/// The row is gone before the event comes. A delivery that is being sent is left to its sender.
public struct DeviceRemovedHandler: EventBatchHandler {
    /// The code of a withdrawn delivery.
    public static let withdrawalCode = "INSTALLATION_REMOVED"

    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<DeviceRemoved>], in transaction: PostgresTransaction) async throws {
        let count = try await Withdrawal(transaction: transaction)
            .withdraw(installIDs: events.map(\.body.installationID), code: Self.withdrawalCode)
        if count > 0 { logger.debug("deliveries withdrawn", metadata: ["count": "\(count)"]) }
        Counter(label: "push_installs_removed_total").increment(by: events.count)
    }
}
