internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import Foundation
internal import PostgresClient
internal import ServiceDefaults

/// Says in one line a service whether the installation is well.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether all is well: readiness, version, backlog and dead letters, one line a service.",
        discussion: """
            Exits with 0 when all is well, and with 1 when something is wrong: a service without an instance, an instance that is not \
            ready, a server that does not answer, a migration that is missing, work that has waited for 60 seconds, dead letters. What is \
            wrong is below the table, with what to do.

            INSTANCES counts the processes that read from Redis. Readiness and version are asked of the admin ports in METRICS_URLS, or \
            --metrics-url; without them an instance counts as running. An address that leads to several instances, as a name of docker \
            compose or Kubernetes does, is answered by one of them.

              heliographctl status
              heliographctl status --metrics-url http://127.0.0.1:9090/metrics --metrics-url http://127.0.0.1:9190/metrics
              heliographctl status --json | jq -r '.findings[].text'
            """
    )

    @OptionGroup var servers: ServerOptions

    @Option(
        name: .customLong("metrics-url"),
        help: ArgumentHelp(
            "The address of an instance's metrics, on its admin port; repeatable.",
            discussion: "Default: METRICS_URLS of the environment, separated by spaces.", valueName: "url"))
    var metricsURLs: [String] = []

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let urls =
            try metricsURLs.isEmpty
            ? reporting { try Settings().optionalString("METRICS_URLS") ?? "" }.split(separator: " ").map(String.init)
            : metricsURLs
        let probe = InstanceProbe()
        var status = InstallationStatus(takenAt: Date(), instances: await probe.ask(urls))
        await probe.shutdown()
        status.rows = try await Self.reachable {
            var rows: [BusSnapshot.Row] = []
            try await servers.redis.withTransport { rows = try await BusSnapshot.rows($0) }
            return rows
        }
        let rows = status.rows
        status.database = try await Self.reachable {
            try await servers.database.withDatabase { try await DatabaseStatus($0, rows: rows) }
        }
        try Console.current.show(StatusReport(status: status), asJSON: json)
        if status.findings.contains(where: \.isProblem) { throw ExitCode.failure }
    }

    /// Returns nil for a server that does not answer; a note has said so.
    private static func reachable<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do { return try await body() } catch let code as ExitCode where code == .unavailable { return nil }
    }
}
