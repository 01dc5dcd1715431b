import FoundationEssentials
import Logging
import Synchronization

/// The state that all routes of both listeners share.
final class EmulatorCore: Sendable {
    let configuration: FCMEmulatorConfiguration
    let registrations: Registrations
    let inbox: Inbox
    let faults: FaultRules
    let accessTokens: AccessTokens
    let connections = ConnectionTracker()
    let logger: Logger
    private let verifierBox = Mutex<AssertionVerifier?>(nil)
    private let counters = Mutex(FCMEmulatorStatistics())

    init(configuration: FCMEmulatorConfiguration, logger: Logger) {
        let limits = configuration.limits
        self.configuration = configuration
        self.logger = logger
        registrations = Registrations(limit: limits.registrations, lagSends: configuration.unregisterLagSends)
        inbox = Inbox(limits: limits)
        faults = FaultRules(limit: limits.faults)
        accessTokens = AccessTokens(limit: limits.accessTokens)
    }

    /// Who may ask for access tokens; nil until the ports, and with them the token URL, are known.
    var verifier: AssertionVerifier? {
        get { verifierBox.withLock { $0 } }
        set { verifierBox.withLock { $0 = newValue } }
    }

    var statistics: FCMEmulatorStatistics {
        var statistics = counters.withLock { $0 }
        statistics.accessTokensIssued = accessTokens.issuedCount
        return statistics
    }

    func count(_ change: (inout FCMEmulatorStatistics) -> Void) {
        counters.withLock { change(&$0) }
    }
}

/// How much the emulator has been asked since its start.
public struct FCMEmulatorStatistics: Sendable, Equatable {
    /// Requests of `messages:send`, whatever came of them.
    public internal(set) var sends = 0
    /// Messages accepted, those that were only validated not counted.
    public internal(set) var accepted = 0
    /// Access tokens issued.
    public internal(set) var accessTokensIssued = 0
}
