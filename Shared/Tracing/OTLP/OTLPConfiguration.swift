/// The configuration of the exporter of traces.
public struct OTLPConfiguration: Sendable {
    /// The URL for traces, such as `http://collector:4318/v1/traces`.
    public var endpoint: String
    /// Sent with each export; often a credential.
    public var headers: [(name: String, value: String)] = []
    /// The resource attributes of the spans, such as `service.name`.
    public var resource: [(name: String, value: String)]
    /// The share of the traces started here that is sampled, 0 to 1.
    public var sampleRatio = 1.0
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// The maximum number of waiting spans, of some 1 KB each; further ones are dropped and counted.
    public var maxWaitingSpans = 2048
    /// The maximum number of spans of an export.
    public var maxBatchSize = 512
    /// The longest time for which spans wait before they are sent.
    public var interval: Duration = .seconds(5)
    /// Timeout of an export.
    public var exportTimeout: Duration = .seconds(10)
    /// Time limit for the last exports when the process ends, retries included.
    public var flushTimeout: Duration = .seconds(5)
    /// The maximum number of attempts of an export.
    public var maxAttempts = 5
    /// The wait after a first failure; it grows by half after each further one.
    public var minRetryWait: Duration = .seconds(1)
    /// The longest of these waits, and of the waits that a collector asks for.
    public var maxRetryWait: Duration = .seconds(30)

    /// Creates a configuration with the defaults for all other properties.
    public init(endpoint: String, resource: [(name: String, value: String)]) {
        self.endpoint = endpoint
        self.resource = resource
    }
}
