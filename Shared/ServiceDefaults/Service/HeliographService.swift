public import ServiceLifecycle

/// One of the deployed services: a function from its context to the things that run.
public protocol HeliographService: Sendable {
    /// The deployed name, in kebab case.
    static var name: String { get }
    /// One line for `--help`.
    static var summary: String { get }
    /// Makes what this service runs beside what all services run.
    ///
    /// They start in this order and are shut down in reverse: what others depend on comes first.
    static func build(_ context: ServiceContext) async throws -> [any Service]
    /// How long this service may take to end its running work after SIGTERM; a deployment's stop period is longer.
    static func gracefulShutdownLimit(_ settings: Settings) throws(ConfigurationError) -> Duration
}

extension HeliographService {
    /// 25 s, which is what a consumer needs that drains for its usual time.
    public static func gracefulShutdownLimit(_ settings: Settings) throws(ConfigurationError) -> Duration { .seconds(25) }
}
