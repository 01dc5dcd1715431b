internal import FoundationEssentials
public import PostgresClient

/// Reads and writes `idempotency_keys`.
public struct IdempotencyRepository: Sendable {
    /// The default time for which a response is kept.
    public static let defaultLifetime = Duration.seconds(24 * 60 * 60)
    /// Attempts to read a row that is inserted and deleted between two statements.
    private static let maxAttempts = 3

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Takes the lease on a request, unless the request was answered or another attempt holds the lease. Of concurrent calls, one
    /// gets it.
    ///
    /// Do not call in a longer transaction: other callers must see the lease at once.
    ///
    /// - Parameters:
    ///   - lease: The length of the lease; renew it during longer work.
    ///   - lifetime: The time for which the response is kept, from now.
    public func begin(
        _ scope: IdempotencyScope, lease: Duration, lifetime: Duration = Self.defaultLifetime
    ) async throws(PostgresError) -> IdempotencyBeginResult {
        if !scope.otherUserIDs.isEmpty, let earlier = try await find(scope) { return earlier }
        for _ in 0..<Self.maxAttempts {
            let owner = UUID()
            let begun = try await db.execute(
                """
                INSERT INTO idempotency_keys AS k (user_id, route, key, owner, locked_until, expires_at)
                VALUES (\(scope.userID), \(scope.route), \(scope.key), \(owner),
                        now() + make_interval(secs => \(lease / .seconds(1))),
                        now() + make_interval(secs => \(lifetime / .seconds(1))))
                ON CONFLICT (user_id, route, key) DO UPDATE
                SET owner = EXCLUDED.owner, locked_until = EXCLUDED.locked_until, expires_at = EXCLUDED.expires_at,
                    created_at = now(), answered_at = NULL, fingerprint = NULL, resource_id = NULL, answer_status = NULL,
                    answer = NULL
                WHERE k.expires_at <= now() OR (k.answered_at IS NULL AND k.locked_until <= now())
                """)
            if begun == 1 {
                let held = IdempotencyLease(scope: scope, owner: owner)
                guard !scope.otherUserIDs.isEmpty, let other = try await find(scope) else { return .began(held) }
                // Both have begun at once, under two ids, and each may see the other: a repetition decides.
                try await release(held)
                return other
            }
            let rows = try await db.query(
                """
                SELECT fingerprint, resource_id, answer_status, answer FROM idempotency_keys
                WHERE user_id = \(scope.userID) AND route = \(scope.route) AND key = \(scope.key)
                """)
            guard let row = rows.first else { continue }
            if try row.decode("answer", as: String?.self) == nil { return .inProgress }
            return .answered(try IdempotencyAnswer(row: row))
        }
        return .inProgress
    }

    /// Returns the state of a request that was begun under one of the other ids of its user, and takes over an expired lease.
    private func find(_ scope: IdempotencyScope) async throws(PostgresError) -> IdempotencyBeginResult? {
        let rows = try await db.query(
            """
            WITH lapsed AS (
                DELETE FROM idempotency_keys
                WHERE user_id = ANY(\(scope.otherUserIDs)) AND route = \(scope.route) AND key = \(scope.key)
                  AND answered_at IS NULL AND locked_until <= now())
            SELECT fingerprint, resource_id, answer_status, answer FROM idempotency_keys
            WHERE user_id = ANY(\(scope.otherUserIDs)) AND route = \(scope.route) AND key = \(scope.key) AND expires_at > now()
              AND (answered_at IS NOT NULL OR locked_until > now())
            """)
        guard let row = rows.first else { return nil }
        return try row.decode("answer", as: String?.self) == nil ? .inProgress : .answered(try IdempotencyAnswer(row: row))
    }

    /// Whether a request with this key was answered, of any user: before the body is read, the user may be unknown.
    public func isAnswered(route: String, key: String) async throws(PostgresError) -> Bool {
        try await !db.query(
            """
            SELECT key FROM idempotency_keys
            WHERE key = \(key) AND route = \(route) AND answered_at IS NOT NULL AND expires_at > now() LIMIT 1
            """
        ).isEmpty
    }

    /// Renews a lease.
    ///
    /// - Returns: False when the lease had ended and another attempt has taken it: stop processing.
    public func renew(_ held: IdempotencyLease, lease: Duration) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE idempotency_keys SET locked_until = now() + make_interval(secs => \(lease / .seconds(1)))
            WHERE user_id = \(held.scope.userID) AND route = \(held.scope.route) AND key = \(held.scope.key)
              AND owner = \(held.owner) AND answered_at IS NULL
            """) == 1
    }

    /// Stores the response. Call in the transaction that creates the resource.
    ///
    /// - Returns: False when the lease had ended and another attempt has taken it: roll back.
    public func complete(_ held: IdempotencyLease, with answer: IdempotencyAnswer) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE idempotency_keys
            SET answered_at = now(), fingerprint = \(answer.fingerprint), resource_id = \(answer.resourceID),
                answer_status = \(answer.status), answer = \(answer.body)
            WHERE user_id = \(held.scope.userID) AND route = \(held.scope.route) AND key = \(held.scope.key)
              AND owner = \(held.owner) AND answered_at IS NULL
            """) == 1
    }

    /// Releases the lease on a request that failed, so that the next attempt can begin.
    public func release(_ held: IdempotencyLease) async throws(PostgresError) {
        try await db.execute(
            """
            DELETE FROM idempotency_keys
            WHERE user_id = \(held.scope.userID) AND route = \(held.scope.route) AND key = \(held.scope.key)
              AND owner = \(held.owner) AND answered_at IS NULL
            """)
    }

    /// Deletes at most `limit` expired responses.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM idempotency_keys WHERE (user_id, route, key) IN (
                SELECT user_id, route, key FROM idempotency_keys WHERE expires_at <= now()
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
