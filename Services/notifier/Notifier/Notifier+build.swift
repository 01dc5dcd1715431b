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

    /// Makes the push client and the consumer of the three lanes.
    ///
    /// - Throws: `ConfigurationError` for the setting that is missing or wrong.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try NotifierConfiguration(context.settings)
        let http = HTTPClient(configuration: configuration.httpClient, logger: context.logger)
        let fcm = try makeClient(configuration, http: http, logger: context.logger)
        let sender = DeliverySender(
            fcm: fcm, sealer: context.sealer, retryPolicy: configuration.retryPolicy, clock: { Date() })
        let handler = NotificationAddressedHandler(
            postgres: context.postgres, sender: sender, pauses: LanePauses(), limits: configuration.limits)
        let consumer = try context.consumer(configuration: configuration.consumer, handlers: [.handler(handler)])
        return [http, consumer]
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
