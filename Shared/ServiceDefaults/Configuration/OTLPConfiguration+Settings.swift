import Foundation
import HTTPClient
import HeliographTracing

extension OTLPConfiguration {
    /// Reads the settings of OpenTelemetry; nil without an endpoint, and then nothing is traced.
    ///
    /// Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/ and …/configuration/sdk-environment-variables/
    /// - Parameter service: The deployed name.
    /// - Throws: ``ConfigurationError`` for the first setting that is wrong.
    init?(_ settings: Settings, service: String) throws(ConfigurationError) {
        guard let (name, endpoint) = try Self.endpoint(settings) else { return nil }
        let address = "the URL of a collector that takes OTLP over HTTP, such as http://collector:4318"
        guard let url = URL(string: endpoint), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host() != nil else {
            throw ConfigurationError(name, "is not valid", expectation: address)
        }
        try Self.checkProtocol(settings)
        let headers = try Self.pairs(settings, "OTEL_EXPORTER_OTLP_HEADERS", "name=value pairs, separated by commas")
        if !headers.isEmpty, let fault = HTTPEndpoint.fault(in: endpoint) {
            // Headers may hold a secret, so they need TLS or a loopback address.
            throw ConfigurationError(name, fault, expectation: address + "; with OTEL_EXPORTER_OTLP_HEADERS https://")
        }
        var resource = try Self.pairs(settings, "OTEL_RESOURCE_ATTRIBUTES", "name=value pairs, separated by commas")
        func set(_ name: String, _ value: String, isLast: Bool = true) {
            if !isLast, resource.contains(where: { $0.name == name }) { return }
            resource.removeAll { $0.name == name }
            resource.append((name, value))
        }
        set("service.name", service, isLast: false)
        if let name = try settings.optionalString("OTEL_SERVICE_NAME") { set("service.name", name) }
        set("service.version", try settings.optionalString("HELIOGRAPH_VERSION") ?? Self.unknownVersion, isLast: false)
        let process = ProcessInfo.processInfo
        set("service.instance.id", "\(service):\(process.hostName):\(process.processIdentifier)", isLast: false)
        self.init(endpoint: endpoint, resource: resource)
        self.headers = headers
        sampleRatio = try settings.double("OTEL_TRACES_SAMPLER_ARG", default: 1, in: 0...1)
        interval = .milliseconds(try settings.int("OTEL_BSP_SCHEDULE_DELAY", default: 5_000, in: 10...60_000))
        caFile = try settings.optionalString("OTEL_EXPORTER_OTLP_CERTIFICATE")
    }

    /// The version of a service outside an image; images set `HELIOGRAPH_VERSION`.
    private static let unknownVersion = "unknown"

    /// The setting of the endpoint of traces, and its whole URL.
    private static func endpoint(_ settings: Settings) throws(ConfigurationError) -> (name: String, url: String)? {
        let own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
        if let url = try settings.optionalString(own) { return (own, url) }
        let common = "OTEL_EXPORTER_OTLP_ENDPOINT"
        guard let url = try settings.optionalString(common) else { return nil }
        return (common, url + (url.hasSuffix("/") ? "v1/traces" : "/v1/traces"))
    }

    /// Refuses to start when another protocol than the implemented one is configured.
    private static func checkProtocol(_ settings: Settings) throws(ConfigurationError) {
        let name = "OTEL_EXPORTER_OTLP_PROTOCOL"
        guard let value = try settings.optionalString(name), value != "http/json" else { return }
        throw ConfigurationError(name, "is not served", expectation: "http/json, or not set")
    }

    /// Reads `name=value,…`, where values are percent-encoded.
    private static func pairs(
        _ settings: Settings, _ name: String, _ expectation: String
    ) throws(ConfigurationError) -> [(name: String, value: String)] {
        guard let text = try settings.optionalString(name, expectation) else { return [] }
        var pairs: [(name: String, value: String)] = []
        for part in text.split(separator: ",") {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard halves.count == 2, !halves[0].isEmpty, let value = halves[1].removingPercentEncoding else {
                throw ConfigurationError(name, "is not valid", expectation: expectation)
            }
            pairs.append((halves[0], value))
        }
        return pairs
    }
}
