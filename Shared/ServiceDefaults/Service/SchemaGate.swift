public import AsyncPrimitives
public import Logging
public import PostgresClient
internal import Synchronization

/// Keeps a service from working on a database whose schema is missing, or older than the one that it was built for.
///
/// Services and `heliographctl migrate up` may start in any order. A newer schema is accepted, because two versions of a service run at
/// the same time while one replaces the other. Once the schema was found, the database is not asked again.
public final class SchemaGate: Sendable {
    /// The minimum pause between two questions to the database while the schema is not there.
    static let interval: Duration = .seconds(1)

    private let required: Int
    private let postgres: PostgresClient
    private let logger: Logger
    private let clock: any MonotonicClock
    private let found = Atomic(false)
    private let lastFailure = Mutex<(error: any Error, time: ContinuousClock.Instant)?>(nil)

    /// Creates a gate that is closed.
    ///
    /// - Parameter required: The number of the least migration that has to be applied.
    public init(required: Int, postgres: PostgresClient, logger: Logger, clock: any MonotonicClock = ContinuousClock()) {
        self.required = required
        self.postgres = postgres
        self.logger = logger
        self.clock = clock
    }

    /// Whether the schema was found.
    var isOpen: Bool { found.load(ordering: .acquiring) }

    /// Checks that the schema is there. It asks the database at most once a second, and not at all after the schema was found.
    ///
    /// - Throws: ``SchemaMissing``, whose description says what to do; `PostgresError` when the database cannot be asked.
    public func check() async throws {
        if isOpen { return }
        let now = clock.now
        if let last = lastFailure.withLock({ $0 }), now - last.time < Self.interval { throw last.error }
        do {
            try await askDatabase()
            if !found.exchange(true, ordering: .acquiringAndReleasing) {
                logger.notice("The schema is there", metadata: ["migration": "\(required)"])
            }
        } catch {
            if !Task.isCancelled { note(error) }
            throw error
        }
    }

    /// Waits until the schema is there; returns at once when the task is cancelled.
    func wait() async {
        while !Task.isCancelled, (try? await check()) == nil {
            try? await clock.sleep(for: Self.interval)
        }
    }

    private func askDatabase() async throws {
        // A question about a table that is missing or hidden would be an error in the server's log, each second.
        let access: PostgresQuery = "SELECT has_column_privilege(to_regclass('schema_migrations'), 'number', 'SELECT') AS may_read"
        let mayRead = try await postgres.query(access.readOnly().timeout(.seconds(5))).first?.decode("may_read", as: Bool?.self) ?? nil
        guard let mayRead else { throw SchemaMissing.migration(required) }
        guard mayRead else { throw SchemaMissing.privilege }
        let applied: PostgresQuery = "SELECT FROM schema_migrations WHERE number = \(required)"
        guard try await !postgres.query(applied.readOnly().timeout(.seconds(5))).isEmpty else { throw SchemaMissing.migration(required) }
    }

    /// Keeps a failure, and logs it unless the last one was the same.
    private func note(_ error: any Error) {
        let now = clock.now
        let last = lastFailure.withLock { failure in
            defer { failure = (error, now) }
            return failure?.error
        }
        guard last.map({ "\($0)" }) != "\(error)" else { return }
        logger.warning("Nothing is done before the database has its schema", metadata: ["error": "\(error)"])
    }
}

/// The schema of the database is not the one that a service needs.
public enum SchemaMissing: Error, Equatable, CustomStringConvertible {
    /// A migration was not applied.
    case migration(Int)
    /// The role of the service may not read which migrations were applied.
    case privilege

    public var description: String {
        switch self {
        case .migration(let number): "migration \(number) is missing: run `heliographctl migrate up`"
        case .privilege: "the role may not read schema_migrations: run `heliographctl migrate up --service-roles`"
        }
    }
}
