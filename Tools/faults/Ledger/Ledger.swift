public import FoundationEssentials
public import PostgresClient

/// A handler run, as the ledger records it.
public struct HandlerRun: Sendable {
    /// The effect of a run: the first one of a piece of work, or the second one, by the event that follows.
    public enum Stage: Int32, Sendable {
        case work = 1
        case done = 2
    }

    /// The piece of work that the run is for.
    public let id: UUID
    /// Whether the run takes the first or the second effect of the work.
    public let stage: Stage
    /// The number of the delivery of its message, from 1.
    public let delivery: Int

    /// Creates a run; `delivery` counts the deliveries of the message from 1.
    public init(id: UUID, stage: Stage, delivery: Int) {
        self.id = id
        self.stage = stage
        self.delivery = delivery
    }
}

/// A record of published work and its effects, which the processes of a fault test write in the transactions of the publication and
/// of the effect.
///
/// Only published work has a unique key: a second effect of the same work is another row, so that it is counted.
public struct Ledger: Sendable {
    /// The `application_name` of the sessions of a process, by which the harness sees whether they have ended.
    public static func applicationName(pid: Int32) -> String { "fault-worker \(pid)" }

    /// The SQL that creates the tables; the harness runs it once.
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

    /// Works on a client, or inside a transaction.
    public init(_ db: some PostgresQueryable) { self.db = db }

    /// Records work that the transaction publishes.
    public func publish(_ ids: [UUID], kind: WorkKind) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_published (id, kind, effects)
            SELECT id, \(kind.rawValue), \(Int32(kind.expectedEffects)) FROM unnest(\(ids)) AS id
            """)
    }

    /// Records that a handler run has begun, whatever its result.
    public func start(_ run: HandlerRun) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_started (id, stage, pid, delivery)
            VALUES (\(run.id), \(run.stage.rawValue), \(pid), \(Int32(run.delivery)))
            """)
    }

    /// Takes effects: one row each.
    public func takeEffect(_ ids: [UUID], stage: HandlerRun.Stage, delivery: Int) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO fault_effects (id, stage, pid, delivery)
            SELECT id, \(stage.rawValue), \(pid), \(Int32(delivery)) FROM unnest(\(ids)) AS id
            """)
    }
}
