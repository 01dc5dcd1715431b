import Foundation
import PostgresClient
import Schema
import Synchronization

/// Records the statements that ran as the role of a service, for the test that none of those that a service can reach is left out
/// (`deploy/local/test.sh`).
///
/// Postgres counts them itself, in `pg_stat_statements`, and only those that it ended: a statement that a role may not run is not among
/// them.
struct StatementRecording: Sendable {
    /// The recording of this process, into the folder that `HELIOGRAPH_STATEMENTS` names; the user of the servers must be able to write
    /// there.
    static let current: StatementRecording? = ProcessInfo.processInfo.environment["HELIOGRAPH_STATEMENTS"].flatMap {
        $0.isEmpty ? nil : StatementRecording(folder: $0)
    }

    /// The folder, with one file a database: a line a statement, with the role and, after a tab, the text, each as `COPY` escapes them.
    let folder: String

    /// What a server is started with. Its records are only read while they are in memory: nothing is kept over a restart.
    let serverArguments = [
        "-c", "shared_preload_libraries=pg_stat_statements", "-c", "pg_stat_statements.max=10000", "-c", "pg_stat_statements.save=off",
    ]

    /// The end of the name of each service's role, whatever the prefix.
    private static let suffixes = ServiceRole.allCases.map { $0.name(prefix: "") }

    /// Makes the view of the statements, in a database that few tests use, and in a schema that none does.
    func prepare(_ server: PostgresServer) async throws {
        try await server.psql("CREATE SCHEMA recording; CREATE EXTENSION pg_stat_statements SCHEMA recording")
    }

    /// Writes the statements that this process prepares as the role of a service to a file of its own, each once with the types of its
    /// parameters, for the test of their plans.
    func observe() {
        let file = "\(folder)/\(ProcessInfo.processInfo.processIdentifier).prepared"
        let seen = Mutex<Set<StatementObserver.Statement>>([])
        StatementObserver.observe.withLock {
            $0 = { statement in
                guard Self.suffixes.contains(where: statement.role.hasSuffix) else { return }
                seen.withLock { seen in
                    guard seen.insert(statement).inserted else { return }
                    let text = statement.sql.replacing(/\s+/, with: " ")
                    let line = "\(statement.types.map(String.init).joined(separator: ","))\t\(text)\n"
                    guard let handle = fopen(file, "a") else { return }
                    fputs(line, handle)
                    fclose(handle)
                }
            }
        }
    }

    /// Writes the file of a database, and makes room for the statements of the next: a server that has more than its maximum forgets
    /// some.
    ///
    /// - Parameter execute: Executes statements in the database of ``prepare(_:)``.
    func record(database: String, execute: (String) async throws -> Void) async throws {
        try await execute(
            """
            COPY (SELECT r.rolname, regexp_replace(s.query, '\\s+', ' ', 'g')
                  FROM recording.pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid JOIN pg_database d ON d.oid = s.dbid
                  WHERE d.datname = '\(database)' AND r.rolname ~ '(\(Self.suffixes.joined(separator: "|")))$')
            TO '\(folder)/\(database).tsv'
            """)
        try await execute("SELECT recording.pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = '\(database)'")
    }
}
