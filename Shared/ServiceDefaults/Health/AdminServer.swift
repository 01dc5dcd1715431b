import Hummingbird
import Logging
import ServiceLifecycle

/// The port for operators: `/livez`, `/readyz` and `/metrics`; the same in every service, and never public.
struct AdminServer: Service {
    let host: String
    let port: Int
    let health: HealthRegistry
    let metrics: PrometheusRegistry
    let logger: Logger
    private let process = ProcessMetrics()

    init(host: String, port: Int, health: HealthRegistry, metrics: PrometheusRegistry, logger: Logger) {
        self.host = host
        self.port = port
        self.health = health
        self.metrics = metrics
        self.logger = logger
    }

    func run() async throws {
        let router = Router()
        // Alive means that this process answers: it says nothing of Redis or Postgres, or their outage would
        // have every instance restarted for nothing.
        router.get("livez") { _, _ in Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: "alive\n"))) }
        router.get("readyz") { [health] _, _ in
            let report = await health.report()
            let text = report.failures.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
            return Response(
                status: report.isReady ? .ok : .serviceUnavailable,
                headers: [.contentType: "text/plain; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: report.isReady ? "ready\n" : text)))
        }
        router.get("metrics") { [metrics, process] _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: metrics.exposition() + process.exposition())))
        }
        // The library says at info what concerns only it: one line when it listens is ours.
        var quiet = logger
        quiet.logLevel = max(.notice, logger.logLevel)
        let application = Application(
            router: router, configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { [logger] channel in
                logger.info("admin port is open", metadata: ["port": "\(channel.localAddress?.port ?? port)"])
            }, logger: quiet)
        try await application.run()
    }
}
