internal import FCM
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import Push
internal import ServiceDefaults
internal import ServiceLifecycle

/// Has FCM validate a push to one installation every minute, without delivering it, so that an outage is detected before a user waits
/// for a push.
///
/// It uses the same client, connections and credentials as every push, but bypasses lanes, quota and breakers, because it measures
/// FCM's state and not ours. Off unless an installation is named.
struct Canary: Service {
    /// The installation and the interval.
    struct Configuration: Sendable {
        /// A registration token or installation id of this project.
        let target: PushTarget
        let interval: Duration
    }

    let configuration: Configuration
    let fcm: FCMClient
    let logger: Logger

    func run() async throws {
        await periodically("canary push check", every: configuration.interval, logger: logger) { try await probe() }
    }

    private func probe() async throws {
        // Validated like any other message and never shown; its ids and texts are made up.
        let content = PushContent.signIn(SignInPush(sessionID: UUID(), userID: UUID(), succeeded: false))
        let sources = PushSources(notificationID: UUID(), link: { _ in nil }, open: { _ in "" })
        let message = try FCMMessage(content, sources, expiresAt: Date(timeIntervalSinceNow: 600))
        let start = ContinuousClock.now
        let result = await fcm.send(message, to: configuration.target, validateOnly: true)
        if result.outcome == .cancelled { return }
        Timer(label: "push_canary_seconds").record(duration: ContinuousClock.now - start)
        Gauge(label: "push_fcm_up").record(result.outcome.isHealthy ? 1 : 0)
        switch result.outcome {
        case .accepted: break
        case .deadTarget:
            logger.warning("the canary's installation is gone; set another one in FCM_CANARY", metadata: ["code": "\(result.code)"])
        case .foreignTarget:
            logger.warning("the canary belongs to another Firebase project than our key", metadata: ["code": "\(result.code)"])
        default: logger.warning("FCM does not accept the canary push", metadata: ["code": "\(result.code)"])
        }
    }
}

extension FCMOutcome {
    /// Whether FCM works for this project; it does so also when it reports the canary's token as dead.
    fileprivate var isHealthy: Bool {
        switch self {
        case .accepted, .deadTarget: true
        default: false
        }
    }
}

extension Canary.Configuration {
    /// Reads the settings; nil when no installation is named.
    init?(_ settings: Settings) throws(ConfigurationError) {
        let name = "FCM_CANARY"
        let about = "an app of yours: FCM is asked to check a push to it, which it does not deliver (`push_fcm_up`, the alert `FCMDown`)"
        let expectation = "a registration token or installation id of the project"
        let interval = try settings.seconds(
            "FCM_CANARY_SECONDS", default: .seconds(60), in: 1...3600, about: "the pause between two checks of `FCM_CANARY`")
        guard let value = try settings.optionalString(name, expectation, about: about) else { return nil }
        guard let target = PushTarget(value) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        self.init(target: target, interval: interval)
    }
}
