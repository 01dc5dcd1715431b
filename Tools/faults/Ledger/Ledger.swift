public import FoundationEssentials
public import PostgresClient

/// The process that runs a handler, for the ledger.
public struct Run: Sendable {
    /// The first effect of a piece of work, or the second one, of the event that follows.
    public enum Stage: Int32, Sendable {
        case work = 1
        case done = 2
    }

    public let id: UUID
    public let stage: Stage
    /// Which delivery of its message this is, from 1.
    public let delivery: Int

    public init(id: UUID, stage: Stage, delivery: Int) {
        self.id = id
        self.stage = stage
        self.delivery = delivery
    }
}

/// The promised work and its effects, written by the processes of a fault test in the transactions of the promise and of the effect.
///
/// Only published messages are unique in it: a second effect of the same work is another row, so that it is counted.
public struct Ledger: Sendable {
    /// The tables; the harness makes them once.
    public static let schema = """
        CREATE TABLE fault_published (
            id uuid PRIMARY KEY, kind text NOT NULL, effects integer NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp());
        CREATE TABLE fault_started (
            id uuid NOT NULL, stage integer NOT NULL, pid integer NOT NULL, delivery integer NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp());
        CREATE INDEX ON fault_started (id);
        CREATE TABLE fault_effects (
            id uuid NOT NULL, stage integer NOT NULL, pid integer NOT NULL, delivery integer NOT NULL);
        CREATE INDEX ON fault_effects (id);
        CREATE TABLE fault_hot_rows (id integer PRIMARY KEY, touched bigint NOT NULL);
        INSERT INTO fault_hot_rows VALUES (1, 0), (2, 0);
        """

    let db: any PostgresQueryable
    private let pid = ProcessInfo.processInfo.processIdentifier

    /// Works on a client, or inside of a transaction.
    public init(_ db: some PostgresQueryable) { self.db = db }

    /// Records work that is promised with the transaction.
    public func publish(_ ids: [UUID], kind: WorkKind) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_published (id, kind, effects)
            SELECT id, \(kind.rawValue), \(Int32(kind.expectedEffects)) FROM unnest(\(ids)) AS id
            """)
    }

    /// Records that a handler began, whatever its result.
    public func start(_ run: Run) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_started (id, stage, pid, delivery)
            VALUES (\(run.id), \(run.stage.rawValue), \(pid), \(Int32(run.delivery)))
            """)
    }

    /// Takes effects: inserts rows, which are counted.
    public func takeEffect(_ ids: [UUID], stage: Run.Stage, delivery: Int) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_effects (id, stage, pid, delivery)
            SELECT id, \(stage.rawValue), \(pid), \(Int32(delivery)) FROM unnest(\(ids)) AS id
            """)
    }
}
