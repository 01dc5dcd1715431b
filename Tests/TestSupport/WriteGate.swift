public import PostgresClient

/// Stops the transactions of a database right before they write to a table, so that a test decides what happens between their check and
/// their write.
public struct WriteGate: Sendable {
    /// The events that a gate stops.
    public enum Event: String, Sendable {
        case insert = "INSERT", update = "UPDATE", delete = "DELETE"
    }

    private static let key = 4_711
    private let client: PostgresClient

    /// Waits until so many transactions of the database wait: at the gate, or for a lock of one that stands there.
    public func isReached(by count: Int) async throws {
        try await eventually("\(count) transactions wait") { try await waiting() == count }
    }

    private func waiting() async throws -> Int {
        try await client.query(
            """
            SELECT count(DISTINCT pid) AS n FROM pg_locks
            WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
            """)[0].decode("n")
    }

    /// Runs `body` while the gate is closed; afterwards it is open, and what waits goes on.
    public static func closed<Result: Sendable>(
        _ client: PostgresClient, before event: Event, on table: String, while body: @Sendable (WriteGate) async throws -> Result
    ) async throws -> Result {
        try await client.execute(
            """
            CREATE OR REPLACE FUNCTION write_gate() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(\(unescaped: "\(key)")); RETURN coalesce(NEW, OLD); END'
            """)
        try await client.execute(
            """
            CREATE TRIGGER write_gate BEFORE \(unescaped: event.rawValue) ON \(unescaped: table)
            FOR EACH ROW EXECUTE FUNCTION write_gate()
            """)
        let result = try await client.withTransaction { transaction in
            try await transaction.execute("SELECT pg_advisory_xact_lock(\(unescaped: "\(key)"))")
            return try await body(WriteGate(client: client))
        }
        return result
    }
}
