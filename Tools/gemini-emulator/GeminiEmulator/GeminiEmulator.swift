public import FCMEmulator
import Hummingbird
public import Logging
public import ServiceLifecycle
import Synchronization

/// A stand-in for Google's Gemini image models: the REST method `generateContent` with the same refusals, plus a script of
/// behaviours and a record of every call.
///
/// Run it as a service, or in a test's own process with ``start()`` and ``stop()``.
public final class GeminiEmulator: Service, Sendable {
    private enum State {
        case idle
        case starting
        case running(Listener)
        case stopped
    }

    private let core: GeminiCore
    private let logger: Logger
    private let state = Mutex(State.idle)

    /// Prepares an emulator, without binding its port yet.
    public init(
        configuration: GeminiEmulatorConfiguration = .init(),
        logger: Logger = Logger(label: "gemini-emulator") { _ in SwiftLogNoOpLogHandler() }
    ) {
        core = GeminiCore(configuration: configuration)
        self.logger = logger
    }

    /// Binds the listener, and returns once requests are accepted.
    public func start() async throws(EmulatorError) {
        try state.withLock { state throws(EmulatorError) in
            guard case .idle = state else { throw EmulatorError(.wrongState, "the emulator was started before") }
            state = .starting
        }
        let router = Router(context: EmulatorContext.self)
        let route = GenerateRoute(core: core)
        router.post("/v1beta/models/{call}") { try await route.respond($0, $1) }
        GeminiControlRoutes(core: core).add(to: router)
        router.get("/**") { _, _ in EmulatorAnswer.html(status: 404) }
        router.post("/**") { _, _ in EmulatorAnswer.html(status: 404) }
        let configuration = core.configuration
        let service = EmulatorService(router, connections: core.connections, maxBodyBytes: configuration.maxRequestBytes)
        let listener = try await Listener.start(service, host: configuration.host, port: configuration.port)
        state.withLock { $0 = .running(listener) }
    }

    /// Cuts all connections, closes the listener and returns once it is gone.
    public func stop() async {
        let listener = state.withLock { state -> Listener? in
            defer { state = .stopped }
            guard case .running(let listener) = state else { return nil }
            return listener
        }
        await listener?.stop()
    }

    /// Starts, serves until the service group shuts down, and stops.
    public func run() async throws {
        try await start()
        logger.info("gemini-emulator is up", metadata: ["url": "\(url)", "models": "\(core.configuration.models.sorted())"])
        try? await gracefulShutdown()
        await stop()
    }

    /// The base URL, without a slash at the end; its port is 0 while the emulator does not run.
    public var url: String {
        let port = state.withLock { state in
            guard case .running(let listener) = state else { return 0 }
            return listener.port
        }
        let host = core.configuration.host == "0.0.0.0" ? "localhost" : core.configuration.host
        return "http://\(host):\(port)"
    }

    // MARK: The script and the record

    /// Adds a behaviour for coming calls; the oldest one that matches applies. False when there are too many.
    @discardableResult
    public func add(_ behaviour: GeminiBehaviour) -> Bool { core.add(behaviour) != nil }

    /// Removes all behaviours that are not used up.
    public func clearBehaviours() { core.clearBehaviours() }

    /// The newest `maxCalls` calls that passed all checks, in order.
    public var calls: [GeminiCall] { core.calls }

    /// Number of paid calls by fingerprint; a count over 1 is a picture that was paid for more than once.
    public var paidCounts: [String: Int] {
        core.calls.filter(\.isPaid).reduce(into: [:]) { $0[$1.fingerprint, default: 0] += 1 }
    }

    /// Maximum number of calls in progress at once, since the start or the last ``clearCalls()``.
    public var maxCallsAtOnce: Int { core.maxCallsAtOnce }

    /// Removes all recorded calls, and resets ``maxCallsAtOnce``.
    public func clearCalls() { core.clearCalls() }

    /// Closes every connection without notice; new ones are accepted.
    public func dropConnections() { core.connections.closeAll() }
}
