internal import FoundationEssentials

/// The mail server to send through, and the sender.
public struct SMTPConfiguration: Sendable {
    /// Whether the connection is encrypted.
    public enum TLS: String, Sendable, CaseIterable {
        /// With TLS from the first byte (`smtps://`), or by STARTTLS (`smtp://`), which must succeed before anything else is sent.
        case required
        /// Not at all: only for a server on the same machine or network.
        case none
    }

    /// The URL: `smtp://host:port` or `smtps://host:port`.
    public let url: String
    /// The sender of all mails.
    public let from: MailAddress
    /// The name to authenticate with, by the strongest mechanism that the server offers; nil to send without authentication.
    public let username: String?
    /// The password to authenticate with.
    public let password: String?
    /// Whether the connection is encrypted.
    public let tls: TLS
    /// A PEM file of certificate authorities to trust in place of the system's.
    public var caFile: String?
    /// The time limit of a mail, from the call on: waiting, connecting and the server's answers included.
    public var timeout = Duration.seconds(30)
    /// The time without a reply after which a connection that was kept from an earlier mail is given up, and the mail sent over another
    /// one.
    public var silenceLimit = Duration.seconds(10)
    /// The most connections, and so the most mails that are sent at once.
    public var maxConnections = 2
    /// The most mails that wait for a connection; more are refused.
    public var maxQueuedMails = 1_000
    /// The time that mails in progress have to finish after a shutdown began.
    public var shutdownGrace = Duration.seconds(10)

    /// Checks the settings.
    ///
    /// - Throws: ``MailError/Code/misconfigured``, with a message that names the setting and repeats no value of it.
    public init(
        url: String, from: String, username: String? = nil, password: String? = nil, tls: TLS = .required
    ) throws(MailError) {
        self.url = try Self.checked(url, tls)
        guard let from = MailAddress(from) else { throw MailError(.misconfigured, "the sender is not an address") }
        self.from = from
        guard (username == nil) == (password == nil) else { throw MailError(.misconfigured, "the name or the password is missing") }
        guard tls == .required || password == nil else { throw MailError(.misconfigured, "a password needs TLS") }
        self.username = username
        self.password = password
        self.tls = tls
    }

    private static func checked(_ url: String, _ tls: TLS) throws(MailError) -> String {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(), ["smtp", "smtps"].contains(scheme),
            let host = parts.host, !host.isEmpty, ["", "/"].contains(parts.path), parts.user == nil, parts.query == nil,
            parts.fragment == nil, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw MailError(.misconfigured, "the URL is not smtp://host:port or smtps://host:port") }
        let port = parts.port ?? (scheme == "smtps" ? 465 : 587)
        guard (1...65_535).contains(port) else {
            throw MailError(.misconfigured, "the port of the URL is not between 1 and 65535")
        }
        guard scheme == "smtp" || tls == .required else { throw MailError(.misconfigured, "smtps:// is TLS") }
        return "\(scheme)://\(host):\(port)"
    }
}
