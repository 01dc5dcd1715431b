internal import AsyncPrimitives
public import Logging

/// Applies the migrations of a schema, or rolls them back.
///
/// One runner works at a time, under an advisory lock; each migration is a transaction of its own together with its row in the
/// table of applied ones. When the text of an applied migration was changed, the runner refuses to run.
///
/// Behind a migration that waits for a lock, every later statement on the table waits as well. So it waits for two seconds at most, is
/// rolled back, lets the others through and tries again, until its timeout.
public struct MigrationRunner: Sendable {
    /// The time that a migration waits for a lock before it is rolled back and tried again.
    static let lockTimeout = Duration.seconds(2)
    /// The pauses between two attempts to get the locks, in which the statements that waited run.
    private static let lockBackoff = Backoff(min: .seconds(1), max: .seconds(5))

    private let client: PostgresClient
    private let migrations: [Migration]
    private let table: String
    private let timeout: Duration
    private let logger: Logger?

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - client: the database to migrate.
    ///   - migrations: all migrations of the program, in any order.
    ///   - table: the table of applied migrations, created when it is missing.
    ///   - timeout: the time limit for one migration with all its attempts, and for waiting for another runner.
    ///   - logger: logs each migration, and as a notice each attempt that got no lock.
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

    /// Applies the missing migrations, in order.
    ///
    /// - Parameter to: the last number to apply; nil applies all.
    /// - Returns: the migrations that were applied.
    /// - Throws: ``PostgresError``; migrations that were applied before the failure stay applied.
    @discardableResult
    public func migrate(to last: Int? = nil) async throws -> [Migration] {
        try await withLock { session in
            let applied = try await verifiedApplied(session)
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

    /// Rolls back the applied migrations above a number, the latest first.
    ///
    /// - Parameter to: the last number that stays; 0 rolls back all.
    /// - Returns: the migrations that were rolled back.
    /// - Throws: ``PostgresError``; migrations that were rolled back before the failure stay rolled back.
    @discardableResult
    public func rollback(to last: Int) async throws -> [Migration] {
        try await withLock { session in
            let applied = try await verifiedApplied(session)
            if let unknown = applied.keys.filter({ number in number > last && !migrations.contains { $0.number == number } }).max() {
                throw PostgresError(code: .migration, message: "migration \(unknown) is applied, but this program cannot roll it back")
            }
            let surplus = migrations.reversed().filter { applied[$0.number] != nil && $0.number > last }
            for migration in surplus { try await revert(migration, session) }
            return surplus
        }
    }

    /// Returns the status of each migration, by number, without changing the database.
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

    private func revert(_ migration: Migration, _ session: PostgresSession) async throws {
        logger?.info("rolling back migration", metadata: ["number": "\(migration.number)", "name": "\(migration.name)"])
        try await run(migration, migration.down, session) { transaction in
            try await transaction.execute("DELETE FROM \(identifier: table) WHERE number = \(migration.number)")
        }
    }

    private func run(
        _ migration: Migration, _ sql: String, _ session: PostgresSession,
        _ record: (PostgresTransaction) async throws -> Void
    ) async throws {
        let deadline = ContinuousClock.now + timeout
        var attempts = 0
        while true {
            do {
                try await session.withTransaction { transaction in
                    let remaining = max(.milliseconds(1), deadline - .now)
                    let lockTimeout = min(Self.lockTimeout, remaining).roundedUpMilliseconds
                    try await transaction.script("SET LOCAL lock_timeout = \(lockTimeout)")
                    try await transaction.script(sql, timeout: remaining)
                    try await record(transaction)
                }
                return
            } catch let error as PostgresError {
                attempts += 1
                let pause = Self.lockBackoff.delay(afterFailures: attempts)
                guard error.isLockFailure, ContinuousClock.now + pause < deadline else { throw failure(of: migration, error) }
                logger?.notice(
                    "a migration waits for a lock, and is tried again: end the transactions that hold the table",
                    metadata: ["number": "\(migration.number)", "name": "\(migration.name)", "attempts": "\(attempts)"])
                try await Task.sleep(for: pause)
            }
        }
    }

    private func failure(of migration: Migration, _ error: PostgresError) -> PostgresError {
        let advice = error.isLockFailure ? "; within \(timeout) it got no lock: end the transactions that hold its tables" : ""
        return PostgresError(
            code: error.code, message: "migration \(migration.number) (\(migration.name)): \(error.message)\(advice)", underlying: error)
    }

    // MARK: Applied migrations

    private struct Applied {
        let name: String
        let checksum: String
    }

    /// Creates the table and holds the lock while the body runs. The lock ends with the session.
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
        // Without the table no migration is applied; the check keeps a transaction from failing because the table is missing.
        let exists = try await database.query("SELECT to_regclass(\(quotedIdentifier(table))) IS NOT NULL")
        guard try exists.first?.decode(0, as: Bool.self) == true else { return [:] }
        var applied: [Int: Applied] = [:]
        for row in try await database.query("SELECT number, name, checksum FROM \(identifier: table)") {
            applied[try row.decode("number")] = Applied(name: try row.decode("name"), checksum: try row.decode("checksum"))
        }
        return applied
    }

    /// Reads the applied migrations, and throws when one of them differs from the program.
    private func verifiedApplied(_ session: PostgresSession) async throws(PostgresError) -> [Int: Applied] {
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

extension PostgresError {
    /// Whether a lock was not free in time, or was waited for in a circle.
    fileprivate var isLockFailure: Bool { sqlState == "55P03" || sqlState == "40P01" }
}
