internal import FCM
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import ServiceDefaults
internal import ServiceLifecycle
internal import Storage

/// Asks FCM every minute to check a push to one installation, without delivering it, so that an outage is known before anybody
/// waits for a push.
///
/// It goes by the same client, connections and credentials as every push, but past lanes, quota and breakers: those say what we
/// do, and it says what FCM does. Off unless an installation is named.
struct Canary: Service {
    /// Whom to ask about, and how often.
    struct Configuration: Sendable {
        /// A registration token or installation id of this project.
        let target: FCMTarget
        let interval: Duration
    }

    let configuration: Configuration
    let fcm: FCMClient
    let logger: Logger

    func run() async throws {
        await periodically("asking FCM about the canary", every: configuration.interval, logger: logger) { try await look() }
    }

    private func look() async throws {
        // Checked like any other and never shown; ids and texts are the canary's own.
        let message = try FCMMessage(
            .signIn(sessionID: "canary", userID: "canary", succeeded: false),
            expiresAt: Date(timeIntervalSinceNow: 600))
        let start = ContinuousClock.now
        let result = await fcm.send(message, to: configuration.target, validateOnly: true)
        if result.outcome == .cancelled { return }
        Timer(label: "push_canary_seconds").recordNanoseconds(Int64((ContinuousClock.now - start).inSeconds * 1e9))
        Gauge(label: "push_fcm_up").record(result.outcome.showsLife ? 1 : 0)
        switch result.outcome {
        case .accepted: break
        case .deadTarget:
            logger.warning("the canary's installation is gone; FCM_CANARY wants another", metadata: ["code": "\(result.code)"])
        case .foreignTarget:
            logger.warning("the canary belongs to another Firebase project than our key", metadata: ["code": "\(result.code)"])
        default: logger.warning("FCM does not take the canary", metadata: ["code": "\(result.code)"])
        }
    }
}

extension FCMOutcome {
    /// Whether FCM does its work for us: it does so too when it finds that the canary is dead.
    fileprivate var showsLife: Bool {
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
        let expectation = "a registration token or installation id of the project"
        let interval = try settings.seconds("FCM_CANARY_SECONDS", default: .seconds(60), in: 1...3600)
        guard let value = try settings.optionalString(name, expectation) else { return nil }
        guard let target = PushTarget(value) else {
            throw ConfigurationError(name, "is not valid", expectation: expectation)
        }
        self.init(target: FCMTarget(target.value, kind: target.kind), interval: interval)
    }
}
