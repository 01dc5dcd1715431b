import HeliographTracing
import Testing

@testable import ServiceDefaults

@Suite struct TraceSettingsTests {
    private func configuration(_ environment: [String: String]) throws(ConfigurationError) -> OTLPConfiguration? {
        try OTLPConfiguration(Settings(environment: environment), service: "notifier")
    }

    @Test func `nothing is traced without an endpoint`() throws {
        #expect(try configuration(["OTEL_SERVICE_NAME": "n", "OTEL_TRACES_SAMPLER_ARG": "1"]) == nil)
        #expect(try configuration(["OTEL_EXPORTER_OTLP_ENDPOINT": ""]) == nil)
    }

    @Test(arguments: [
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318"], "http://tempo:4318/v1/traces"),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "https://host/otlp/"], "https://host/otlp/v1/traces"),
        (
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://other/take"],
            "http://other/take"
        ),
    ])
    func `the path is added to the common endpoint and not to that of traces`(environment: [String: String], url: String) throws {
        #expect(try configuration(environment)?.endpoint == url)
    }

    @Test func `the resource has the service, its version and its instance`() throws {
        let plain = try #require(try configuration(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318"]))
        #expect(plain.resource.map(\.name) == ["service.name", "service.version", "service.instance.id"])
        #expect(plain.resource[1].value.hasPrefix("1."))
        let built = try configuration(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318", "HELIOGRAPH_VERSION": "v1.4-2-gabc"])
        #expect(built?.resource.first { $0.name == "service.version" }?.value == "v1.4-2-gabc")
        #expect(plain.resource[0].value == "notifier" && plain.sampleRatio == 1 && plain.interval == .seconds(5))
        let named = try #require(
            try configuration([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318", "OTEL_SERVICE_NAME": "pusher", "HELIOGRAPH_VERSION": "6",
                "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test%20bed, service.version=7", "OTEL_TRACES_SAMPLER_ARG": "0.25",
            ]))
        let resource = Dictionary(uniqueKeysWithValues: named.resource.map { ($0.name, $0.value) })
        #expect(resource["service.name"] == "pusher" && resource["service.version"] == "7")
        #expect(resource["deployment.environment.name"] == "test bed" && named.sampleRatio == 0.25)
    }

    @Test func `headers are decoded, and need TLS or a loopback address`() throws {
        let headers = "Authorization=Basic%20c2VjcmV0,X-Scope-OrgID=1"
        let good = try configuration(["OTEL_EXPORTER_OTLP_ENDPOINT": "https://tempo", "OTEL_EXPORTER_OTLP_HEADERS": headers])
        #expect(good?.headers.map { "\($0.name): \($0.value)" } == ["Authorization: Basic c2VjcmV0", "X-Scope-OrgID: 1"])
        #expect(throws: ConfigurationError.self) {
            try configuration(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://tempo:4318", "OTEL_EXPORTER_OTLP_HEADERS": headers])
        }
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "tempo:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://tempo"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_TRACES_SAMPLER_ARG", "2"), ("OTEL_RESOURCE_ATTRIBUTES", "no-value"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "=x"),
    ])
    func `an invalid setting is named`(name: String, value: String) {
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"].merging([name: value]) { $1 }
        let error = #expect(throws: ConfigurationError.self) { try configuration(environment) }
        #expect(error?.name == name)
    }
}
