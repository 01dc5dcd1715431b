import FoundationEssentials
import JSON
import Logging
import Synchronization

/// The state that all routes of both listeners share.
final class EmulatorCore: Sendable {
    let configuration: FCMEmulatorConfiguration
    let registrations: Registrations
    let inbox: Inbox
    let mailbox: Mailbox
    let requests: RequestLog
    let clock: EmulatorClock
    let quota: QuotaBucket
    /// The templates of the requests read most recently.
    let templates = Mutex(TemplateCache())
    let faults: FaultRules
    let accessTokens: AccessTokens
    let idTokens = IDTokenSigner()
    let connections = ConnectionTracker()
    let mailConnections = ConnectionTracker()
    let logger: Logger
    private let verifierBox = Mutex<AssertionVerifier?>(nil)
    private let projectBox = Mutex<[String]>([])
    private let counters = Mutex(FCMEmulatorStatistics())
    /// The number of the last message's name.
    private let lastName = Atomic(0)

    init(configuration: FCMEmulatorConfiguration, logger: Logger) {
        let limits = configuration.limits
        self.configuration = configuration
        self.logger = logger
        registrations = Registrations(limit: limits.registrations, lagSends: configuration.unregisterLagSends)
        let inbox = Inbox(limits: limits)
        self.inbox = inbox
        mailbox = Mailbox(limits: limits) { mail in inbox.tell(mail.map { .mail($0) } ?? .mailsCleared) }
        requests = RequestLog(limit: limits.requests)
        clock = EmulatorClock(configuration.now)
        quota = QuotaBucket(perMinute: configuration.quotaPerMinute)
        faults = FaultRules(limit: limits.faults)
        accessTokens = AccessTokens(limit: limits.accessTokens)
    }

    /// Verifies requests for access tokens; nil until the ports, and with them the token URL, are known.
    var verifier: AssertionVerifier? {
        get { verifierBox.withLock { $0 } }
        set {
            verifierBox.withLock { $0 = newValue }
            projectBox.withLock { $0 = [newValue?.account.projectID ?? "", configuration.projectNumber] }
        }
    }

    /// The project's id and its number, which is the sender id of its apps: paths take either.
    var projectNames: [String] { projectBox.withLock { $0.isEmpty ? ["", configuration.projectNumber] : $0 } }

    /// Returns a number for a message's name: the time in microseconds since 1970, or the next number that no message has.
    func makeNameNumber(now: Date) -> Int {
        let micros = Int(now.timeIntervalSince1970 * 1_000_000)
        var last = lastName.load(ordering: .relaxed)
        while true {
            let number = max(micros, last + 1)
            let (isOurs, other) = lastName.weakCompareExchange(expected: last, desired: number, ordering: .relaxed)
            if isOurs { return number }
            last = other
        }
    }

    /// Issues an access token, and returns the answer of the token endpoint and the metadata server.
    func issueAccessToken(now: Date) -> JSONValue {
        let lifetime = configuration.accessTokenLifetimeSeconds
        let token = accessTokens.issue(expires: now.addingTimeInterval(Double(lifetime)))
        return ["access_token": .string(token), "expires_in": .integer(lifetime), "token_type": "Bearer"]
    }

    /// Removes all accepted messages and the log of requests, and resets the counts of registrations.
    func clearMessages() {
        inbox.clear()
        requests.clear()
        registrations.resetCounts()
    }

    var statistics: FCMEmulatorStatistics {
        var statistics = counters.withLock { $0 }
        statistics.accessTokensIssued = accessTokens.issuedCount
        statistics.openConnections = connections.openCount
        statistics.connections = connections.counts.http2
        statistics.goAways = connections.counts.goAways
        statistics.mailConnections = mailConnections.addedCount
        statistics.openMailConnections = mailConnections.openCount
        return statistics
    }

    func count(_ change: (inout FCMEmulatorStatistics) -> Void) {
        counters.withLock { change(&$0) }
    }
}

/// The counters of the emulator since its start.
public struct FCMEmulatorStatistics: Sendable, Equatable {
    /// Requests of `messages:send` with any outcome, except those with a body over the limit.
    public internal(set) var sends = 0
    /// The accepted messages, without messages that were only validated.
    public internal(set) var accepted = 0
    /// Requests of `messages:send` by the status of their answer; 0 for those without an answer.
    public internal(set) var byStatus: [Int: Int] = [:]
    /// HTTP/2 connections opened.
    public internal(set) var connections = 0
    /// Connections of all kinds that are open.
    public internal(set) var openConnections = 0
    /// Connections on which GOAWAY was sent.
    public internal(set) var goAways = 0
    /// Connections opened to the mail listeners.
    public internal(set) var mailConnections = 0
    /// Connections to the mail listeners that are open.
    public internal(set) var openMailConnections = 0
    /// Access tokens issued.
    public internal(set) var accessTokensIssued = 0
    /// Requests for the keys that ID tokens are signed with, with any outcome.
    public internal(set) var keyFetches = 0
}
