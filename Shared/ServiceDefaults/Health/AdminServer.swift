import BuildVersion
import Hummingbird
import Logging
import ServiceLifecycle

/// Serves `/livez`, `/readyz` and `/metrics` on the admin port, which every service has and which is never public.
struct AdminServer: Service {
    /// The deployed name of the service.
    let name: String
    let host: String
    let port: Int
    let health: HealthRegistry
    let metrics: PrometheusRegistry
    let logger: Logger
    private let process = ProcessMetrics()
    private let cgroup = CgroupMetrics()

    init(name: String, address: (host: String, port: Int), health: HealthRegistry, metrics: PrometheusRegistry, logger: Logger) {
        self.name = name
        (host, port) = address
        self.health = health
        self.metrics = metrics
        self.logger = logger
    }

    /// Reads `ADMIN_HOST` and `ADMIN_PORT`.
    static func address(_ settings: Settings) throws(ConfigurationError) -> (host: String, port: Int) {
        let host = try settings.string(
            "ADMIN_HOST", default: "127.0.0.1", "an address to listen on", about: "where health and metrics are served; not for the public")
        let port = try settings.int("ADMIN_PORT", default: 9090, in: 0...65_535, about: "the port of health and metrics")
        return (host, port)
    }

    func run() async throws {
        let router = Router()
        router.get("livez") { [health] _, _ in Self.response(failures: await health.livenessFailures(), otherwise: "alive\n") }
        router.get("readyz") { [health] _, _ in Self.response(failures: await health.report().failures, otherwise: "ready\n") }
        router.get("metrics") { [health, metrics, process, cgroup, build = build] _, _ in
            let readiness = await health.exposition()
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(
                    byteBuffer: ByteBuffer(
                        string: metrics.exposition() + build + readiness + process.exposition() + cgroup.exposition())))
        }
        // The library logs its own details at info; one line of our own reports the open port.
        var quiet = logger
        quiet.logLevel = max(.notice, logger.logLevel)
        let application = Application(
            router: router, configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { [logger] channel in
                logger.info("admin port is open", metadata: ["port": "\(channel.localAddress?.port ?? port)"])
            }, logger: quiet)
        try await application.run()
    }

    /// The metric `build_info`: the service and its version. Its label is not `service`, which Prometheus sets.
    var build: String {
        PrometheusText.gauge("build_info", [(PrometheusText.labels([("program", name), ("version", HeliographVersion.current)]), 1)])
    }

    private static func response(failures: [String: String], otherwise text: String) -> Response {
        let lines = failures.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
        return Response(
            status: failures.isEmpty ? .ok : .serviceUnavailable,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: failures.isEmpty ? text : lines)))
    }
}
