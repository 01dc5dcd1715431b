internal import Accounts
internal import AsyncPrimitives
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
    public static let summary = "Sends the pushes that token-registry has addressed, and publishes their outcomes."

    /// Builds the push client, the consumer of the three lanes, and the services that resend.
    ///
    /// - Throws: `ConfigurationError` for the setting that is missing or wrong.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let configuration = try NotifierConfiguration(context.settings)
        let wakeUp = AsyncSignal()
        // For access tokens only: pushes use the FCM client's own connections.
        let http = HTTPClient(configuration: configuration.httpClient, logger: context.logger)
        let fcm = try makeClient(configuration, http: http, logger: context.logger) { wakeUp.signal() }
        let (logger, postgres, clock) = (context.logger, context.postgres, context.clock)
        let sealer = try context.sealer(.tokens)
        let breakers = Breakers(clock: clock)
        let sender = DeliverySender(
            fcm: fcm, sealer: sealer, pauses: LanePauses(clock: clock), breakers: breakers,
            rates: InstallRates(postgres: postgres, logger: logger, clock: clock), retryPolicy: configuration.retryPolicy,
            logger: logger, clock: clock)
        let quota = Quota(
            postgres: postgres, project: configuration.projectID, limits: configuration.quota, logger: logger, clock: clock)
        let queue = SendQueue(maxInFlight: configuration.maxInFlight, quota: quota, wakeUp: wakeUp, clock: clock)
        let writer = OutcomeWriter(postgres: postgres, logger: logger, clock: clock)
        let keeper = LeaseKeeper(postgres: postgres, limits: configuration.limits, wakeUp: wakeUp, logger: logger, clock: clock)
        let pipeline = PushPipeline(
            postgres: postgres,
            rendering: Rendering(sealer: sealer, links: try context.mediaLinks()),
            sender: sender, queue: queue,
            dispatcher: PushDispatcher(sender: sender, queue: queue, writer: writer, keeper: keeper, wakeUp: wakeUp),
            writer: writer, keeper: keeper, limits: configuration.limits, logger: logger, clock: clock)
        let handler = NotificationAddressedHandler(pipeline: pipeline)
        let consumer = try context.consumer(
            configuration: configuration.consumer,
            handlers: Lane.allCases.map { lane in
                .handler(handler, streams: [NotificationAddressed.stream(of: lane)])
            } + [context.erasing(with: SendEraser())])
        // Wrong credentials make the service unready; an outage of FCM does not, because no other instance or restart would help.
        context.health.register("fcm_credentials") {
            if !breakers.hasCredentials { throw FCMError(.credentialsRefused, "FCM refuses the credentials of this service") }
        }
        let due = DueDeliveries(pipeline: pipeline, limits: configuration.limits, logger: logger)
        let watch = PacingWatch(queue: queue, quota: quota, breakers: breakers, fcm: fcm, logger: logger)
        let canary = configuration.canary.map { Canary(configuration: $0, fcm: fcm, logger: logger) }
        if let canary { context.metrics.setLifetime(max(.seconds(60), canary.configuration.interval) * 2.5, ofGauge: "push_fcm_up") }
        // Shut down from last to first: the services that feed the pipeline, then the pipeline, then the clients it uses.
        return [watch, http, fcm, quota, pipeline, consumer, due] + [canary].compactMap(\.self)
    }

    private static func makeClient(
        _ configuration: NotifierConfiguration, http: HTTPClient, logger: Logger, iterationEnded: @escaping @Sendable () -> Void
    ) throws -> FCMClient {
        do throws(FCMError) {
            let tokens =
                switch configuration.credentials {
                case .key(let key):
                    try CachedTokenSource(key: key, tokenURL: configuration.tokenURL, http: http, logger: logger)
                case .metadata(let host): try CachedTokenSource(metadataHost: host, http: http, logger: logger)
                }
            return try FCMClient(
                configuration: configuration.fcm, projectID: configuration.projectID, tokens: tokens, logger: logger,
                iterationEnded: iterationEnded)
        } catch {
            throw ConfigurationError(
                "FCM_BASE_URL, FCM_TOKEN_URL or GCE_METADATA_HOST", "cannot be used",
                expectation: "an https:// URL; http:// is accepted for localhost only")
        }
    }
}
