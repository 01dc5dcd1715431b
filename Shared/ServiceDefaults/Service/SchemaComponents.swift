public import ServiceLifecycle

/// A component that starts before the database has its schema: a server, which answers that the service is not ready, or a component that
/// ends, at a shutdown, work that `build` has begun.
public struct StartsWithoutSchema: Service {
    private let component: any Service

    /// Wraps a component of ``HeliographService/build(_:)``; other components wait for the schema.
    public init(_ component: any Service) { self.component = component }

    /// Runs the component at once, whatever the schema of the database is.
    public func run() async throws { try await component.run() }
}

/// A component that starts when the database has its schema. A shutdown before that ends it without a start.
struct StartsWithSchema: Service {
    let component: any Service
    let schema: SchemaGate

    func run() async throws {
        await cancelWhenGracefulShutdown { await schema.wait() }
        guard schema.isOpen else { return }
        try await component.run()
    }
}
