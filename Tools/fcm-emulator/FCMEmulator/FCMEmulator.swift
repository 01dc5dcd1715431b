import FoundationEssentials
import Hummingbird
public import Logging
import NIOPosix
import NIOSSL
public import ServiceLifecycle
import Synchronization

/// A stand-in for Firebase Cloud Messaging: Google's token endpoint and `messages:send` over HTTP/2, with the same refusals, plus
/// a control API and a page that shows every push as a phone would.
///
/// Run it as a service, or in a test's own process with ``start()`` and ``stop()``.
public final class FCMEmulator: Service, Sendable {
    private struct Running {
        let plain: Listener
        let tls: Listener?
        let mail: [MailListener]
        let heartbeat: Task<Void, any Error>
    }

    private enum State {
        case idle
        case starting
        case running(Running)
        case stopped
    }

    /// The configuration it was created with.
    public let configuration: FCMEmulatorConfiguration
    let core: EmulatorCore
    private let logger: Logger
    private let state = Mutex(State.idle)
    /// Interval of the heartbeats on the streams of the page.
    private static let heartbeatInterval = Duration.seconds(15)

    /// Prepares an emulator, without binding ports or accessing files yet.
    public init(configuration: FCMEmulatorConfiguration, logger: Logger = FCMEmulator.quietLogger) {
        self.configuration = configuration
        self.logger = logger
        core = EmulatorCore(configuration: configuration, logger: logger)
    }

    /// A logger of level `error`, for tests.
    public static var quietLogger: Logger {
        var logger = Logger(label: "fcm-emulator")
        logger.logLevel = .error
        return logger
    }

    private var running: Running? {
        state.withLock { state in
            guard case .running(let running) = state else { return nil }
            return running
        }
    }

    private var host: String { configuration.host == "0.0.0.0" ? "localhost" : configuration.host }

    /// The base URL of the plain listener, without a slash at the end; its port is 0 while the emulator does not run.
    public var url: String { "http://\(host):\(running?.plain.port ?? 0)" }

    /// The base URL of the TLS listener; nil while the emulator does not run, or without that listener.
    public var tlsURL: String? { running?.tls.map { "https://\(host):\($0.port)" } }

    /// The port of the plain listener; nil while the emulator does not run.
    public var port: Int? { running?.plain.port }

    /// The port of the TLS listener; nil while the emulator does not run, or without that listener.
    public var tlsPort: Int? { running?.tls?.port }

    /// The URL of the mail listener, which offers STARTTLS unless there is no TLS listener; nil without such a listener.
    public var smtpURL: String? { running?.mail.first.map { "smtp://\(host):\($0.port)" } }

    /// The URL of the mail listener whose connections begin with TLS; nil without such a listener.
    public var smtpsURL: String? {
        configuration.smtpTLSPort == nil ? nil : running?.mail.last.map { "smtps://\(host):\($0.port)" }
    }

    // MARK: Start and stop

    /// Makes missing key files, binds the listeners, and returns once requests are accepted.
    public func start() async throws(EmulatorError) {
        try state.withLock { state throws(EmulatorError) in
            guard case .idle = state else { throw EmulatorError(.wrongState, "the emulator was started before") }
            state = .starting
        }
        let service = EmulatorService(core, router())
        let plain = try await Listener.start(service, host: configuration.host, port: configuration.port)
        var tls: Listener?
        var mail: [MailListener] = []
        do throws(EmulatorError) {
            let context = configuration.tlsPort == nil ? nil : try await tlsContext()
            if let port = configuration.tlsPort {
                tls = try await Listener.start(service, tls: context, host: configuration.host, port: port)
            }
            if let port = configuration.smtpPort { mail.append(try await MailListener.start(core, tls: context, port: port)) }
            if let port = configuration.smtpTLSPort {
                mail.append(try await MailListener.start(core, tls: context, isImplicit: true, port: port))
            }
            try await loadServiceAccount(plainPort: plain.port, tlsPort: tls?.port)
        } catch {
            await plain.stop()
            await tls?.stop()
            for listener in mail { await listener.stop() }
            throw error
        }
        let heartbeat = Task { [core] in
            while true {
                try await Task.sleep(for: Self.heartbeatInterval)
                core.inbox.tell(.heartbeat)
            }
        }
        let running = Running(plain: plain, tls: tls, mail: mail, heartbeat: heartbeat)
        state.withLock { $0 = .running(running) }
    }

    /// Cuts all connections, closes the listeners and returns once they are gone.
    public func stop() async {
        let running = state.withLock { state -> Running? in
            defer { state = .stopped }
            guard case .running(let running) = state else { return nil }
            return running
        }
        guard let running else { return }
        running.heartbeat.cancel()
        core.inbox.close()
        core.mailbox.close()
        await running.plain.stop()
        await running.tls?.stop()
        for listener in running.mail { await listener.stop() }
    }

    /// Starts, serves until the service group shuts down, and stops.
    public func run() async throws {
        try await start()
        logger.info(
            "fcm-emulator is up",
            metadata: [
                "inbox": "\(url)/inbox", "fcm": "\(tlsURL ?? url)", "mail": "\(smtpURL ?? "none")",
                "key_file": "\(configuration.serviceAccountFile)",
            ])
        try? await gracefulShutdown()
        await stop()
    }

    private func router() -> Router<EmulatorContext> {
        let router = Router(context: EmulatorContext.self)
        MetadataRoutes(core: core).add(to: router)
        ControlRoutes(core: core).add(to: router)
        FirebaseRoutes(core: core).add(to: router)
        PageRoutes(core: core).add(to: router)
        router.get("/**") { _, _ in EmulatorAnswer.html(status: 404) }
        router.post("/**") { _, _ in EmulatorAnswer.html(status: 404) }
        return router
    }

    private func tlsContext() async throws(EmulatorError) -> NIOSSLContext {
        let configuration = configuration
        do {
            // Reads and writes files and may generate a key and wait for openssl, so it does not run on the cooperative pool.
            return try await NIOThreadPool.singleton.runIfActive {
                try DevelopmentCertificate.ensure(
                    certificateFile: configuration.certificateFile, keyFile: configuration.privateKeyFile,
                    names: configuration.certificateNames)
                let chain = try NIOSSLCertificate.fromPEMFile(configuration.certificateFile)
                let key = try NIOSSLPrivateKey(file: configuration.privateKeyFile, format: .pem)
                return try Listener.context(
                    .makeServerConfiguration(certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
            }
        } catch let error as EmulatorError {
            throw error
        } catch {
            throw EmulatorError(.certificate, "cannot use \(configuration.certificateFile)", underlying: error)
        }
    }

    private func loadServiceAccount(plainPort: Int, tlsPort: Int?) async throws(EmulatorError) {
        let configuration = configuration
        // A caller may address this machine by any of the certificate's names, and signs for the URL that it uses.
        let own = configuration.certificateNames.flatMap { name in
            [tlsPort.map { "https://\(name):\($0)/token" }, "http://\(name):\(plainPort)/token"].compactMap(\.self)
        }
        do {
            let account = try await NIOThreadPool.singleton.runIfActive {
                try ServiceAccount.loadOrCreate(
                    file: configuration.serviceAccountFile, projectID: configuration.projectID,
                    tokenURI: configuration.tokenURL ?? own.first ?? "https://oauth2.googleapis.com/token")
            }
            let audiences = [account.tokenURI, "https://oauth2.googleapis.com/token"] + own
            core.verifier = AssertionVerifier(account: account, audiences: audiences)
        } catch let error as EmulatorError {
            throw error
        } catch {
            throw EmulatorError(.serviceAccount, "cannot load the service account", underlying: error)
        }
    }
}
