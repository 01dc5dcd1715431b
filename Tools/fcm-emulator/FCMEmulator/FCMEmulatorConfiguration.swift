public import FoundationEssentials

/// The configuration of an emulator.
public struct FCMEmulatorConfiguration: Sendable {
    /// The address both listeners bind to.
    public var host = "127.0.0.1"
    /// The port of the plain listener (HTTP/1.1, and HTTP/2 by prior knowledge); 0 lets the system choose.
    public var port = 0
    /// The port of the TLS listener (HTTP/2 by ALPN); 0 lets the system choose, nil means no TLS listener.
    public var tlsPort: Int? = 0
    /// The port that mails are sent to; 0 lets the system choose, nil means no listener. STARTTLS is offered when there is a TLS listener.
    public var smtpPort: Int?
    /// The port for mails whose connections begin with TLS; 0 lets the system choose, nil means no listener. It needs the TLS listener.
    public var smtpTLSPort: Int?
    /// The name that senders of mails must authenticate with; nil to require no authentication.
    public var smtpUser: String?
    /// The password that senders of mails must authenticate with.
    public var smtpPassword = ""
    /// The certificate's PEM file; made, together with its key, when it does not exist.
    public var certificateFile: String
    /// The PEM file of the certificate's private key.
    public var privateKeyFile: String
    /// The names and IPv4 addresses a certificate made here is valid for.
    public var certificateNames = ["localhost", "127.0.0.1"]
    /// The service-account key file (JSON); made when it does not exist.
    public var serviceAccountFile: String
    /// The Firebase project of a service account made here.
    public var projectID = "heliograph-dev"
    /// The project's number: the sender id of its apps.
    public var projectNumber = "438712605913"
    /// Maximum number of requests a project may send in a minute; later ones are refused. Nil: no limit. FCM allows 600,000.
    public var quotaPerMinute: Int?
    /// The `token_uri` of a service account made here; nil means this emulator's own.
    public var tokenURL: String?
    /// The name of the app that the inbox page shows above each push.
    public var appName = "Heliograph"
    /// Lifetime of an access token, in seconds; Google's is 3599.
    public var accessTokenLifetimeSeconds = 3599
    /// The time for which the keys of ID tokens may be cached, in seconds; Google says some six hours.
    public var keysMaxAgeSeconds = 19_800
    /// The limit on message sizes.
    public var sizeLimit = MessageSizeLimit.documented
    /// Number of sends to a deleted token that still succeed; one was observed with real FCM.
    public var unregisterLagSends = 0
    /// The limits of everything the emulator keeps, and of waits.
    public var limits = FCMEmulatorLimits()
    /// The clock of tokens and timestamps.
    public var now: @Sendable () -> Date = { Date() }

    /// The configuration of an emulator that keeps its key files in that folder.
    public init(directory: String) {
        certificateFile = directory + "/fcm-certificate.pem"
        privateKeyFile = directory + "/fcm-private-key.pem"
        serviceAccountFile = directory + "/service-account.json"
    }
}

/// The limit on the size of a message.
public enum MessageSizeLimit: String, Sendable, CaseIterable {
    /// As documented: 4096 bytes, 2048 to a topic or condition.
    case documented
    /// As observed in production: 4505 bytes for any target.
    case observed
}

/// The limits of everything the emulator keeps, and of waits.
public struct FCMEmulatorLimits: Sendable {
    /// Messages kept for the control API; the oldest go first.
    public var messages = 100_000
    /// Mails kept; the oldest go first.
    public var mails = 1_000
    /// The largest mail, in bytes.
    public var mailBytes = 262_144
    /// The recipients of one mail.
    public var mailRecipients = 100
    /// Connections of senders of mails at a time.
    public var mailConnections = 64
    /// The time after which a connection without a command is closed, in seconds (RFC 5321 § 4.5.3.2.7).
    public var mailIdleSeconds = 300
    /// Requests kept in the log; the oldest go first.
    public var requests = 10_000
    /// Cards kept for the inbox page; the oldest go first.
    public var cards = 500
    /// Registered tokens; the oldest go first.
    public var registrations = 250_000
    /// Access tokens alive; the oldest go first.
    public var accessTokens = 1_000
    /// Fault rules at a time.
    public var faults = 1_000
    /// Live inbox pages at a time.
    public var streams = 64
    /// The maximum number of requests that wait for a message at a time, and also of requests that wait for a mail.
    public var waiters = 1_000
    /// The largest request body, in bytes.
    public var bodyBytes = 262_144
    /// The longest a request may wait for a message, in seconds.
    public var waitSeconds = 60
    /// The longest a fault may delay or hang a request, in seconds.
    public var delaySeconds = 120

    /// The default limits.
    public init() {}
}
