public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// The jobs of an account that count for its next one.
public struct ImageJobLoad: Sendable, Equatable {
    /// The number of jobs that have not ended.
    public var open: Int
    /// The number of jobs in the streams.
    public var inFlight: Int
    /// The estimated processor time of the jobs that were ordered in ``ImageCostRepository/window``, deleted ones included.
    public var cost: Duration
    /// The calls of paid generators for the account today (UTC).
    public var callsToday: Int

    /// Describes a load.
    public init(open: Int = 0, inFlight: Int = 0, cost: Duration = .zero, callsToday: Int = 0) {
        self.open = open
        self.inFlight = inFlight
        self.cost = cost
        self.callsToday = callsToday
    }
}

/// The turns of accounts: each has a few jobs in the streams, and its others wait in the table, so that many jobs of one account delay
/// only each other.
extension ImageJobRepository {
    /// The places of an account in the streams, unless they are set.
    public static let usualPlaces = 3

    /// Returns the jobs of an account that count for its next one, and blocks other such counts until the transaction ends: of concurrent
    /// orders, each sees the jobs of those before it.
    public func lockLoad(of userID: UUID) async throws(PostgresError) -> ImageJobLoad {
        try await lockTurns(of: userID)
        // A separate statement, whose snapshot is newer than the lock.
        let rows = try await db.query(
            """
            SELECT count(*) AS open, count(*) FILTER (WHERE NOT awaits_turn) AS in_flight,
                (SELECT coalesce(sum(cost_ms), 0)::bigint FROM image_costs
                 WHERE user_id = \(userID) AND minute > \(unescaped: ImageCostRepository.start)) AS cost_ms,
                coalesce((SELECT calls FROM image_calls WHERE day = \(unescaped: ImageCallRepository.today) AND user_id = \(userID)), 0)
                    AS calls_today
            FROM image_jobs WHERE user_id = \(userID) AND \(unescaped: Self.isOpen)
            """)
        let row = try rows.required()
        return ImageJobLoad(
            open: try row.decode("open"), inFlight: try row.decode("in_flight"),
            cost: .milliseconds(try row.decode("cost_ms", as: Int.self)),
            callsToday: Int(try row.decode("calls_today", as: Int32.self)))
    }

    /// Lets the oldest waiting job of an account take the place of one that has just ended.
    ///
    /// Call in the transaction that ends the job, as its last lock: it waits for orders of the account, which hold the same lock until
    /// their jobs are visible. Publish the ``ImageJob/request`` of the returned job in that transaction.
    ///
    /// - Returns: The job whose turn it is; `nil` when no job waits.
    public func nextTurn(after job: ImageJob) async throws(PostgresError) -> ImageJob? {
        try await lockTurns(of: job.userID)
        let rows = try await db.query(
            """
            UPDATE image_jobs SET awaits_turn = false
            WHERE id = (SELECT id FROM image_jobs WHERE user_id = \(job.userID) AND \(unescaped: Self.isWaiting)
                        ORDER BY created_at, id LIMIT 1)
            RETURNING *
            """)
        return try rows.first.map(ImageJob.init(row:))
    }

    /// Gives free places of accounts to their waiting jobs. Places become free without ``nextTurn(after:)`` where a job in the streams was
    /// deleted, or has passed its deadline.
    ///
    /// Call in a transaction, and publish the ``ImageJob/request`` of each job in it.
    ///
    /// - Parameters:
    ///   - places: The places of an account.
    ///   - limit: The most jobs.
    public func fillTurns(places: Int, limit: Int) async throws(PostgresError) -> [ImageJob] {
        // Skip an account that another transaction has locked: that transaction, or the next call, gives it its turn. Waiting could
        // deadlock, because this transaction holds locks of other accounts.
        let found = try await db.query(
            """
            SELECT user_id FROM (
                SELECT user_id FROM (SELECT DISTINCT user_id FROM image_jobs WHERE \(unescaped: Self.isWaiting)) waiting
                WHERE (SELECT count(*) FROM image_jobs j WHERE j.user_id = waiting.user_id AND \(unescaped: Self.isInFlight)) < \(places)
                LIMIT \(limit)) free
            WHERE pg_try_advisory_xact_lock(\(unescaped: Self.turnLock("user_id")))
            """)
        let userIDs = try found.column("user_id", as: UUID.self)
        guard !userIDs.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT waiting.id AS due_id FROM (
                    SELECT id, user_id, row_number() OVER (PARTITION BY user_id ORDER BY created_at, id) AS number
                    FROM image_jobs WHERE user_id = ANY(\(userIDs)) AND \(unescaped: Self.isWaiting)) waiting
                CROSS JOIN LATERAL (
                    SELECT count(*) AS count FROM image_jobs j
                    WHERE j.user_id = waiting.user_id AND \(unescaped: Self.isInFlight)) in_flight
                WHERE waiting.number <= \(places) - in_flight.count
                LIMIT \(limit)
            )
            UPDATE image_jobs SET awaits_turn = false FROM due WHERE id = due_id
            RETURNING image_jobs.*
            """)
        return try rows.map(ImageJob.init(row:))
    }

    private func lockTurns(of userID: UUID) async throws(PostgresError) {
        try await db.execute(
            "SELECT pg_advisory_xact_lock(\(unescaped: Self.turnLock("id"))) FROM (SELECT \(userID)::uuid AS id) account")
    }

    /// SQL expression: the number of the lock of an account's turns.
    private static func turnLock(_ userID: String) -> String { "hashtextextended('image_jobs:' || \(userID)::text, 0)" }
    /// SQL condition: an open job has one of the places of its account in the streams.
    private static let isInFlight = "\(isOpen) AND NOT awaits_turn"
    /// SQL condition: a job has not ended, and is not past its deadline.
    private static let isOpen = "status IN ('pending', 'processing') AND deadline_at > now() AND \(isVisible)"
    /// SQL condition: a job waits for its turn.
    private static let isWaiting = "awaits_turn AND status = 'pending' AND deadline_at > now() AND \(isVisible)"
}

extension ImageJob {
    /// The event that has a worker make its picture.
    public var request: ImageRequested { ImageRequested(jobID: id, lane: lane) }
}
