public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Tracing
public import WireFormat

/// Logs and counts new registrations of installations. identity-api has written the row with the event.
public struct DeviceRegisteredHandler: EventBatchHandler {
    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<DeviceRegistered>], in transaction: PostgresTransaction) async throws {
        for event in events {
            InstrumentationContext.withValue(event.work) {
                logger.debug(
                    "installation registered", metadata: ["installation_id": "\(event.body.installationID.wireString)"])
            }
        }
        Counter(label: "push_installs_registered_total").increment(by: events.count)
    }
}
