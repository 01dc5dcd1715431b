public import AsyncPrimitives
public import Logging
public import PostgresClient
internal import Synchronization

/// Keeps a service from working on a database whose schema is missing, or older than the schema that it was built for.
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
    private let questions = Mutex(Questions())

    private struct Questions {
        /// Opens when the question that is under way has its answer.
        var answered: AsyncLatch?
        var lastFailure: (error: any Error, time: ContinuousClock.Instant)?
    }

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

    /// Checks that the schema is there. It asks the database at most once a second, one question at a time whatever the number of callers,
    /// and not at all after the schema was found.
    ///
    /// - Throws: ``SchemaMissing``, whose description says what to do; `PostgresError` when the database cannot be asked;
    ///   `CancellationError` when the caller is cancelled while it waits for the answer to another caller's question.
    public func check() async throws {
        while !isOpen {
            let answered = AsyncLatch()
            if let other = try begin(answered) {
                await other.wait()
                try Task.checkCancellation()
            } else {
                defer { answered.open() }
                try await ask()
            }
        }
    }

    /// Begins a question, unless there is one: then returns the latch that opens with its answer.
    private func begin(_ answered: AsyncLatch) throws -> AsyncLatch? {
        let now = clock.now
        return try questions.withLock { questions in
            if let other = questions.answered { return other }
            if let last = questions.lastFailure, now - last.time < Self.interval { throw last.error }
            questions.answered = answered
            return nil
        }
    }

    private func ask() async throws {
        do {
            try await askDatabase()
            found.store(true, ordering: .releasing)
            questions.withLock { $0.answered = nil }
            logger.notice("The schema is there", metadata: ["migration": "\(required)"])
        } catch {
            // A cancelled caller has learned nothing about the schema: the next caller asks.
            note(Task.isCancelled ? nil : error)
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

    /// Ends a question that failed, keeps the failure, and logs it unless the last one was the same.
    private func note(_ error: (any Error)?) {
        let now = clock.now
        let last = questions.withLock { questions in
            questions.answered = nil
            defer { if let error { questions.lastFailure = (error, now) } }
            return questions.lastFailure?.error
        }
        guard let error, last.map({ "\($0)" }) != "\(error)" else { return }
        logger.warning("Nothing is done before the database has its schema", metadata: ["error": "\(error)"])
    }
}

/// The database does not have the schema that a service needs.
public enum SchemaMissing: Error, Equatable, CustomStringConvertible {
    /// A migration was not applied.
    case migration(Int)
    /// The role of the service may not read which migrations were applied.
    case privilege

    /// The fault, and the command of `heliographctl` that mends it.
    public var description: String {
        switch self {
        case .migration(let number): "migration \(number) is missing: run `heliographctl migrate up`"
        case .privilege: "the role may not read schema_migrations: run `heliographctl migrate up --service-roles`"
        }
    }
}
