public import ServiceLifecycle

/// A deployed service: builds its components from a context.
public protocol HeliographService: Sendable {
    /// The deployed name, in kebab case.
    static var name: String { get }
    /// One line for `--help`.
    static var summary: String { get }
    /// Creates the components of this service, which run beside the components that all services have.
    ///
    /// They start in this order and are shut down in reverse: dependencies come first. They start when the database has its schema, except
    /// ``StartsWithoutSchema``.
    static func build(_ context: ServiceContext) async throws -> [any Service]
    /// Time after SIGTERM within which running work has to end; a deployment's stop period must be longer.
    static func gracefulShutdownLimit(_ settings: Settings) throws(ConfigurationError) -> Duration
}

extension HeliographService {
    /// 25 s, which suffices for a consumer with the default drain time.
    public static func gracefulShutdownLimit(_ settings: Settings) throws(ConfigurationError) -> Duration { .seconds(25) }
}
