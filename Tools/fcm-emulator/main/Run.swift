import ArgumentParser
import FCMEmulator
import Logging
import ServiceLifecycle
import UnixSignals

/// Serves until SIGTERM or SIGINT.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve until stopped (the default).")

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port of the plain listener (HTTP/1.1 and h2c): inbox page, control API, curl.")
    var port = 9080

    @Option(help: "The port of the TLS listener, which speaks HTTP/2.")
    var tlsPort = 9443

    @Flag(help: "Serve plain HTTP/1.1 only.")
    var noTls = false

    @Option(help: "The port for mails, with STARTTLS unless there is no TLS listener (default: no mails).")
    var smtpPort: Int?

    @Option(help: "The port for mails whose connections begin with TLS (default: none).")
    var smtpsPort: Int?

    @Option(help: "The name that senders of mails must authenticate with (default: none).")
    var smtpUser: String?

    @Option(help: "The password that senders of mails must authenticate with.")
    var smtpPassword = ""

    @Option(help: "The certificate's PEM file; made, with its key, when missing.")
    var tlsCertificate = ".run/fcm/certificate.pem"

    @Option(help: "The PEM file of the certificate's key.")
    var tlsKey = ".run/fcm/private-key.pem"

    @Option(
        parsing: .upToNextOption,
        help: "The names and IPv4 addresses that a certificate made here is valid for.")
    var tlsNames = ["localhost", "127.0.0.1", "fcm-emulator"]

    @Option(help: "The service-account key file; made when missing.")
    var serviceAccount = ".run/fcm/service-account.json"

    @Option(help: "The Firebase project of a service account made here.")
    var project = "heliograph-dev"

    @Option(help: "The token_uri of a service account made here (default: this emulator's own).")
    var tokenUrl: String?

    @Option(help: "The app's name above each push on the inbox page.")
    var appName = "Heliograph"

    @Option(
        help: "How message sizes are checked: documented or observed.",
        transform: { try parse(MessageSizeLimit(rawValue: $0), "documented or observed") })
    var sizeMode = MessageSizeLimit.documented

    @Option(help: "How many requests a minute the project may send (default: any number; FCM allows 600000).")
    var quotaPerMinute: Int?

    @Option(help: "How many sends to a token just deleted still succeed.")
    var unregisterLagSends = 0

    @Option(
        help: "How much to log: trace, debug, info, notice, warning, error or critical.",
        transform: { try parse(Logger.Level(rawValue: $0), "trace, debug, info, notice, warning, error or critical") })
    var logLevel = Logger.Level.info

    private static func parse<Value>(_ value: Value?, _ choices: String) throws -> Value {
        guard let value else { throw ValidationError("must be \(choices)") }
        return value
    }

    func run() async throws {
        var configuration = FCMEmulatorConfiguration(directory: ".")
        configuration.host = host
        configuration.port = port
        configuration.tlsPort = noTls ? nil : tlsPort
        configuration.smtpPort = smtpPort
        configuration.smtpTLSPort = noTls ? nil : smtpsPort
        configuration.smtpUser = smtpUser
        configuration.smtpPassword = smtpPassword
        configuration.certificateFile = tlsCertificate
        configuration.privateKeyFile = tlsKey
        configuration.certificateNames = tlsNames
        configuration.serviceAccountFile = serviceAccount
        configuration.projectID = project
        configuration.tokenURL = tokenUrl
        configuration.appName = appName
        configuration.sizeLimit = sizeMode
        configuration.quotaPerMinute = quotaPerMinute
        configuration.unregisterLagSends = unregisterLagSends
        var logger = Logger(label: "fcm-emulator")
        logger.logLevel = logLevel
        let group = ServiceGroup(
            configuration: .init(
                services: [FCMEmulator(configuration: configuration, logger: logger)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch let error as EmulatorError {
            throw ValidationError(error.description)
        }
    }
}
