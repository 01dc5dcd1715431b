internal import CommandLineSupport
internal import FoundationEssentials
internal import HTTPClient

/// An instance's readiness and version from its admin port.
struct InstanceStatus: Sendable, Equatable {
    let url: String
    /// The service and its version, as in the metric `build_info`; nil when it does not answer.
    var service: String?
    var version: String?
    /// Why it is not ready, a line for each failed check; empty when it is ready.
    var failures: [String] = []
}

/// Asks instances whether they are ready, and which version they have.
struct InstanceProbe {
    /// Longer than the checks of an instance take at most.
    private static let timeout: Duration = .seconds(5)
    private static let maxMetricsBytes = 8 << 20

    private let http: HTTPClient

    init() {
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http", "https"]
        configuration.connectTimeout = .seconds(2)
        configuration.maxResponseBodyByteCount = Self.maxMetricsBytes
        http = HTTPClient(configuration: configuration, logger: .silent)
    }

    func shutdown() async { await http.shutdown() }

    /// Asks all instances at once; the results are in the order of the addresses.
    func ask(_ urls: [String]) async -> [InstanceStatus] {
        await withTaskGroup(of: (Int, InstanceStatus).self) { group in
            for (index, url) in urls.enumerated() { group.addTask { (index, await ask(url)) } }
            var found = urls.map { InstanceStatus(url: $0) }
            for await (index, status) in group { found[index] = status }
            return found
        }
    }

    private func ask(_ url: String) async -> InstanceStatus {
        var status = InstanceStatus(url: url)
        do {
            let metrics = try await http.execute(HTTPClientRequest(url: url, timeout: Self.timeout))
            (status.service, status.version) = Self.build(in: String(decoding: metrics.body, as: UTF8.self))
            let base = url.hasSuffix("/metrics") ? String(url.dropLast("/metrics".count)) : url
            let ready = try await http.execute(HTTPClientRequest(url: base + "/readyz", timeout: Self.timeout))
            if ready.status != 200 {
                status.failures = String(decoding: ready.body, as: UTF8.self).split(separator: "\n").map(String.init)
                if status.failures.isEmpty { status.failures = ["/readyz answered \(ready.status)"] }
            }
        } catch {
            status.failures = ["no answer: \(error.message)"]
        }
        return status
    }

    /// Returns the service and the version of the metric `build_info`, which has both as labels.
    static func build(in metrics: String) -> (service: String?, version: String?) {
        guard let line = metrics.split(separator: "\n").first(where: { $0.hasPrefix("build_info{") }),
            let match = line.firstMatch(of: /program="([^"]*)",version="([^"]*)"/)
        else { return (nil, nil) }
        return (String(match.1), String(match.2))
    }
}
