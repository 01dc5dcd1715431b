public import Logging

/// Takes a schema from one version to another.
///
/// One runner works at a time, under an advisory lock; each migration is a transaction of its own together with its row in
/// the table of applied ones. A migration whose text was changed after it was applied stops everything.
public struct MigrationRunner: Sendable {
    /// How long a migration may wait for the locks on what it changes, in milliseconds, before it gives up and is rolled back.
    static let lockTimeoutMilliseconds = 30_000

    private let client: PostgresClient
    private let migrations: [Migration]
    private let table: String
    private let timeout: Duration
    private let logger: Logger?

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - client: where to run.
    ///   - migrations: all of them, in whatever order.
    ///   - table: the table of applied migrations, made when it is missing.
    ///   - timeout: how long one migration may take, and how long to wait for another runner.
    ///   - logger: is told of each migration.
    /// - Throws: ``PostgresError`` with code `migration` when a number is used twice or is below 1.
    public init(
        client: PostgresClient, migrations: [Migration], table: String = "schema_migrations",
        timeout: Duration = .seconds(600), logger: Logger? = nil
    ) throws(PostgresError) {
        self.client = client
        self.migrations = migrations.sorted { $0.number < $1.number }
        self.table = table
        self.timeout = timeout
        self.logger = logger
        if let first = self.migrations.first, first.number < 1 {
            throw PostgresError(code: .migration, message: "migration numbers start at 1, not at \(first.number)")
        }
        for (one, next) in zip(self.migrations, self.migrations.dropFirst()) where one.number == next.number {
            throw PostgresError(code: .migration, message: "two migrations have the number \(one.number)")
        }
    }

    /// Applies what is missing, in order.
    ///
    /// - Parameter to: the last number to apply; all when nil.
    /// - Returns: the migrations that were applied.
    /// - Throws: ``PostgresError``; what was applied before the failure stays.
    @discardableResult
    public func migrate(to last: Int? = nil) async throws -> [Migration] {
        try await withLock { session in
            let applied = try await checkedApplied(session)
            let highest = applied.keys.max() ?? 0
            let missing = migrations.filter { applied[$0.number] == nil && $0.number <= last ?? .max }
            if let first = missing.first, first.number < highest {
                let message = "migration \(first.number) is not applied, but \(highest) is: give it a number after that"
                throw PostgresError(code: .migration, message: message)
            }
            for migration in missing { try await apply(migration, session) }
            return missing
        }
    }

    /// Takes back what was applied after a number, the latest first.
    ///
    /// - Parameter to: the last number that stays; 0 takes everything back.
    /// - Returns: the migrations that were taken back.
    /// - Throws: ``PostgresError``; what was taken back before the failure stays so.
    @discardableResult
    public func rollback(to last: Int) async throws -> [Migration] {
        try await withLock { session in
            let applied = try await checkedApplied(session)
            if let unknown = applied.keys.filter({ number in number > last && !migrations.contains { $0.number == number } }).max() {
                throw PostgresError(code: .migration, message: "migration \(unknown) is applied, but its way back is not known here")
            }
            let surplus = migrations.reversed().filter { applied[$0.number] != nil && $0.number > last }
            for migration in surplus { try await takeBack(migration, session) }
            return surplus
        }
    }

    /// Says where each migration stands, by number, without changing anything.
    public func status() async throws -> [MigrationStatus] {
        let applied = try await readApplied(client)
        let known = migrations.map { migration in
            let state: MigrationStatus.State =
                switch applied[migration.number] {
                case nil: .pending
                case .some(let row): row.checksum == migration.checksum ? .applied : .changed
                }
            return MigrationStatus(number: migration.number, name: migration.name, state: state)
        }
        let unknown = applied.filter { number, _ in !migrations.contains { $0.number == number } }
            .map { MigrationStatus(number: $0.key, name: $0.value.name, state: .unknown) }
        return (known + unknown).sorted { $0.number < $1.number }
    }

    // MARK: Steps

    private func apply(_ migration: Migration, _ session: PostgresSession) async throws {
        logger?.info("applying migration", metadata: ["number": "\(migration.number)", "name": "\(migration.name)"])
        try await run(migration, migration.up, session) { transaction in
            try await transaction.execute(
                """
                INSERT INTO \(identifier: table) (number, name, checksum)
                VALUES (\(migration.number), \(migration.name), \(migration.checksum))
                """)
        }
    }

    private func takeBack(_ migration: Migration, _ session: PostgresSession) async throws {
        logger?.info("taking migration back", metadata: ["number": "\(migration.number)", "name": "\(migration.name)"])
        try await run(migration, migration.down, session) { transaction in
            try await transaction.execute("DELETE FROM \(identifier: table) WHERE number = \(migration.number)")
        }
    }

    private func run(
        _ migration: Migration, _ sql: String, _ session: PostgresSession,
        _ record: (PostgresTransaction) async throws -> Void
    ) async throws {
        do {
            try await session.withTransaction { transaction in
                try await transaction.script("SET LOCAL lock_timeout = \(Self.lockTimeoutMilliseconds)")
                try await transaction.script(sql, timeout: timeout)
                try await record(transaction)
            }
        } catch let error as PostgresError {
            throw PostgresError(
                code: error.code, message: "migration \(migration.number) (\(migration.name)): \(error.message)",
                underlying: error)
        }
    }

    // MARK: What is applied

    private struct Applied {
        let name: String
        let checksum: String
    }

    /// Makes the table and holds the lock while the body runs. The lock ends with the session.
    private func withLock<Success>(_ body: (PostgresSession) async throws -> Success) async throws -> Success {
        try await client.withSession { session in
            try await session.execute("SELECT set_config('statement_timeout', '0', false)")
            let key = "heliograph migrations of \(table)"
            let lock: PostgresQuery = "SELECT pg_advisory_lock(hashtextextended(\(key), 0))"
            try await session.execute(lock.timeout(timeout))
            try await session.execute(
                """
                CREATE TABLE IF NOT EXISTS \(identifier: table) (
                    number bigint PRIMARY KEY,
                    name text NOT NULL,
                    checksum text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now()
                )
                """)
            return try await body(session)
        }
    }

    private func readApplied(_ database: some PostgresQueryable) async throws(PostgresError) -> [Int: Applied] {
        // Without the table nothing is applied; asking first keeps a transaction from failing over it.
        let exists = try await database.query("SELECT to_regclass(\(quotedIdentifier(table))) IS NOT NULL")
        guard try exists.first?.decode(0, as: Bool.self) == true else { return [:] }
        var applied: [Int: Applied] = [:]
        for row in try await database.query("SELECT number, name, checksum FROM \(identifier: table)") {
            applied[try row.decode("number")] = Applied(name: try row.decode("name"), checksum: try row.decode("checksum"))
        }
        return applied
    }

    private func checkedApplied(_ session: PostgresSession) async throws(PostgresError) -> [Int: Applied] {
        let applied = try await readApplied(session)
        for migration in migrations {
            guard let row = applied[migration.number], row.checksum != migration.checksum else { continue }
            throw PostgresError(
                code: .migration,
                message: "migration \(migration.number) (\(migration.name)) was changed after it had been applied")
        }
        return applied
    }
}
