internal import EventBus
internal import FCM
internal import FoundationEssentials
internal import HTTPClient
internal import Logging
public import ServiceDefaults
public import ServiceLifecycle
internal import WireFormat

/// The service that sends pushes: consumes `notification.addressed.*`, sends by FCM, publishes `notification.settled`.
public enum Notifier: HeliographService {
    /// The deployed name, which is also that of the consumer group.
    public static let name = "notifier"
    /// The line of `--help`.
    public static let summary = "Sends the pushes that token-registry has addressed, and tells how each of them ended."

    /// Makes the push client, the consumer of the three lanes, and what sends again.
    ///
    /// - Throws: `ConfigurationError` for the setting that is missing or wrong.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try NotifierConfiguration(context.settings)
        let http = HTTPClient(configuration: configuration.httpClient, logger: context.logger)
        let fcm = try makeClient(configuration, http: http, logger: context.logger)
        let sender = DeliverySender(
            fcm: fcm, sealer: context.sealer, links: try context.mediaLinks(to: context.blobStore()), pauses: LanePauses(),
            retryPolicy: configuration.retryPolicy, clock: { Date() })
        let dispatcher = DeliveryDispatcher(postgres: context.postgres, sender: sender, limits: configuration.limits)
        let handler = NotificationAddressedHandler(dispatcher: dispatcher, limits: configuration.limits)
        let consumer = try context.consumer(configuration: configuration.consumer, handlers: [.handler(handler)])
        let due = DueDeliveries(dispatcher: dispatcher, limits: configuration.limits, logger: context.logger)
        return [http, consumer, due]
    }

    private static func makeClient(
        _ configuration: NotifierConfiguration, http: HTTPClient, logger: Logger
    ) throws -> FCMClient {
        do throws(FCMError) {
            let tokens = try ServiceAccountTokenSource(
                key: configuration.key, tokenURL: configuration.tokenURL, http: http, logger: logger)
            return try FCMClient(
                configuration: configuration.fcm, key: configuration.key, tokens: tokens, http: http)
        } catch {
            throw ConfigurationError(
                "FCM_BASE_URL or FCM_TOKEN_URL", "cannot be used",
                expectation: "an https:// URL; http:// is accepted for localhost only")
        }
    }
}
