internal import Mail
internal import ServiceDefaults

extension SMTPConfiguration {
    /// Reads `SMTP_…`: the mail server, and the sender of mails.
    init(_ settings: Settings) throws(ConfigurationError) {
        let urlForm = "`smtp://host:port` (with STARTTLS) or `smtps://host:port`"
        let url = try settings.string("SMTP_URL", urlForm, about: "the mail server")
        let sender = "`address` or `Name <address>`"
        let from = try settings.string("SMTP_FROM", sender, about: "the sender of all mails")
        guard MailAddress(from) != nil else { throw ConfigurationError("SMTP_FROM", "is not valid", expectation: sender) }
        let username = try settings.optionalString("SMTP_USERNAME", about: "the name to authenticate with at the mail server")
        let password = try settings.optionalString("SMTP_PASSWORD", about: "the password to authenticate with; it needs TLS")
        guard (username == nil) == (password == nil) else {
            throw ConfigurationError("SMTP_PASSWORD", "does not fit", expectation: "set together with SMTP_USERNAME, or neither")
        }
        let tls: TLS = try settings.choice(
            "SMTP_TLS", default: .required, about: "whether mails must go over TLS; `none` is for a server on this machine or network")
        guard tls == .required || password == nil else {
            throw ConfigurationError("SMTP_TLS", "does not fit", expectation: "required where there is a password")
        }
        do throws(MailError) {
            try self.init(url: url, from: from, username: username, password: password, tls: tls)
        } catch {
            throw ConfigurationError("SMTP_URL", "is not valid", expectation: urlForm)
        }
        caFile = try settings.authorities("SMTP_CA_FILE", about: "a PEM file of authorities to trust for the mail server")
    }
}
