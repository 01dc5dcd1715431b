import BuildVersion
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
        let headers = try Self.pairs(settings, "OTEL_EXPORTER_OTLP_HEADERS", "headers that are sent with each export, over https only")
        if !headers.isEmpty, let fault = HTTPEndpoint.fault(in: endpoint) {
            // Headers may hold a secret, so they need TLS or a loopback address.
            throw ConfigurationError(name, fault, expectation: address + "; with OTEL_EXPORTER_OTLP_HEADERS https://")
        }
        var resource = try Self.pairs(
            settings, "OTEL_RESOURCE_ATTRIBUTES", "what the spans come from, such as `deployment.environment.name=test`")
        func set(_ name: String, _ value: String, isLast: Bool = true) {
            if !isLast, resource.contains(where: { $0.name == name }) { return }
            resource.removeAll { $0.name == name }
            resource.append((name, value))
        }
        set("service.name", service, isLast: false)
        if let name = try settings.optionalString(
            "OTEL_SERVICE_NAME", otherwise: "the service's name", about: "the name of the service in its spans")
        {
            set("service.name", name)
        }
        let version = try settings.string(
            HeliographVersion.buildSetting, default: HeliographVersion.number,
            about: "the build, such as its commit: in `--version`, the log of the start, the metric `build_info`, and as the "
                + "`service.version` of spans; images have it from theirs")
        set("service.version", version, isLast: false)
        let process = ProcessInfo.processInfo
        set("service.instance.id", "\(service):\(process.hostName):\(process.processIdentifier)", isLast: false)
        self.init(endpoint: endpoint, resource: resource)
        self.headers = headers
        sampleRatio = try settings.number(
            "OTEL_TRACES_SAMPLER_ARG", default: 1, in: 0...1,
            about: "the share of traces that are kept; a caller's `traceparent` is followed, sampled or not")
        interval = .milliseconds(
            try settings.int(
                "OTEL_BSP_SCHEDULE_DELAY", default: 5_000, in: 10...60_000,
                about: "the milliseconds that spans wait to be sent together"))
        caFile = try settings.optionalString(
            "OTEL_EXPORTER_OTLP_CERTIFICATE", "the path of a PEM file of certificate authorities", otherwise: "the system's",
            about: "the authorities that sign the collector's certificate")
    }

    /// The setting of the endpoint of traces, and its whole URL.
    private static func endpoint(_ settings: Settings) throws(ConfigurationError) -> (name: String, url: String)? {
        let own = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
        if let url = try settings.optionalString(own, "a URL", about: "in place of `OTEL_EXPORTER_OTLP_ENDPOINT`: the whole URL of traces")
        {
            return (own, url)
        }
        let common = "OTEL_EXPORTER_OTLP_ENDPOINT"
        let about = "a collector that takes OTLP over HTTP as JSON; without it nothing is traced"
        guard let url = try settings.optionalString(common, "a URL, such as http://collector:4318", about: about) else { return nil }
        return (common, url + (url.hasSuffix("/") ? "v1/traces" : "/v1/traces"))
    }

    /// Refuses to start when another protocol than the implemented one is configured.
    private static func checkProtocol(_ settings: Settings) throws(ConfigurationError) {
        let name = "OTEL_EXPORTER_OTLP_PROTOCOL"
        let about = "the protocol of the collector: only http/json is served"
        guard let value = try settings.optionalString(name, "http/json", otherwise: "`http/json`", about: about), value != "http/json"
        else { return }
        throw ConfigurationError(name, "is not served", expectation: "http/json, or not set")
    }

    /// Reads `name=value,…`, where values are percent-encoded.
    private static func pairs(
        _ settings: Settings, _ name: String, _ about: String
    ) throws(ConfigurationError) -> [(name: String, value: String)] {
        let expectation = "name=value pairs, separated by commas"
        guard let text = try settings.optionalString(name, expectation, about: about) else { return [] }
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
