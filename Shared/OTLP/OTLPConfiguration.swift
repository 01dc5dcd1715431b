/// Where spans are sent, and how many.
public struct OTLPConfiguration: Sendable {
    /// The URL that takes traces, such as `http://collector:4318/v1/traces`.
    public var endpoint: String
    /// Sent with each export; often a credential.
    public var headers: [(name: String, value: String)] = []
    /// What the spans come from: `service.name` and its like.
    public var resource: [(name: String, value: String)]
    /// The share of the traces begun here that is sampled, 0 to 1.
    public var sampleRatio = 1.0
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// The most spans that wait; one too many is dropped and counted. Some 1 KB each.
    public var waitingSpansMax = 2048
    /// The most spans of an export.
    public var batchMax = 512
    /// How long spans wait at most before they are sent.
    public var interval: Duration = .seconds(5)
    /// How long an export may take.
    public var exportTimeout: Duration = .seconds(10)
    /// How long the last exports may take when the process ends, their repetitions included.
    public var flushTimeout: Duration = .seconds(5)
    /// How often an export is tried.
    public var attemptsMax = 5
    /// The wait after a first failure; half as much again after each further one.
    public var retryWaitMin: Duration = .seconds(1)
    /// The longest of these waits, and the most that a collector may ask for.
    public var retryWaitMax: Duration = .seconds(30)

    /// Sends to `endpoint`, as what `resource` says.
    public init(endpoint: String, resource: [(name: String, value: String)]) {
        self.endpoint = endpoint
        self.resource = resource
    }
}
