public import FoundationEssentials
public import PostgresClient

/// The dead letters of a group.
public struct DeadLetterBacklog: Sendable, Equatable {
    /// Their number; at most ``maxCounted``.
    public var count = 0
    /// The time when the oldest dead letter was given up; nil without dead letters.
    public var oldestAt: Date?

    /// The number up to which dead letters are counted, so that a count does not read all of very many.
    public static let maxCounted = 10_000

    /// No dead letters.
    public init() {}
}

extension DeadLetterRepository {
    /// Returns the numbers of dead letters of some groups; groups without any are left out.
    public func backlogs(of groups: [StreamGroup]) async throws(PostgresError) -> [StreamGroup: DeadLetterBacklog] {
        let query: PostgresQuery = """
            SELECT g.stream, g.name, (
                SELECT count(*) FROM (
                    SELECT FROM dead_letters d WHERE d.stream = g.stream AND d.consumer_group = g.name
                    LIMIT \(DeadLetterBacklog.maxCounted)) AS counted) AS count, oldest.at
            FROM unnest(\(groups.map(\.stream)), \(groups.map(\.name))) AS g (stream, name) CROSS JOIN LATERAL (
                SELECT dead_lettered_at AS at FROM dead_letters d WHERE d.stream = g.stream AND d.consumer_group = g.name
                ORDER BY dead_lettered_at LIMIT 1) AS oldest
            """
        var backlogs: [StreamGroup: DeadLetterBacklog] = [:]
        for row in try await db.query(query.readOnly()) {
            var backlog = DeadLetterBacklog()
            backlog.count = try row.decode("count")
            backlog.oldestAt = try row.decode("at")
            backlogs[StreamGroup(stream: try row.decode("stream"), name: try row.decode("name"))] = backlog
        }
        return backlogs
    }

    /// Deletes at most `limit` dead letters of a group that were given up more than `age` ago, the oldest first.
    ///
    /// - Returns: The number of deleted dead letters.
    @discardableResult
    public func deleteOlder(than age: Duration, of group: StreamGroup, limit: Int) async throws(PostgresError) -> Int {
        // By the keys of an index of the group, so that the cost depends on what is deleted. The services may not lock rows.
        try await db.execute(
            """
            DELETE FROM dead_letters WHERE stream = \(group.stream) AND consumer_group = \(group.name) AND id = ANY(ARRAY(
                SELECT id FROM dead_letters
                WHERE stream = \(group.stream) AND consumer_group = \(group.name)
                  AND dead_lettered_at < now() - make_interval(secs => \(age / .seconds(1)))
                ORDER BY dead_lettered_at LIMIT \(limit)))
            """)
    }
}
