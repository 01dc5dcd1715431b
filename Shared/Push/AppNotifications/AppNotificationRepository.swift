public import FoundationEssentials
public import PostgresClient

/// Reads and writes `app_notifications`.
public struct AppNotificationRepository: Sendable {
    /// The most notifications of one app that wait for their time.
    public static let maxScheduled = 10_000

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores a notification, with the users of it that have an account.
    ///
    /// - Parameter topicMembers: The members of the topic it is for, instead of users.
    /// - Returns: Nil when the app has used the dedupe key before.
    public func insert(_ new: NewAppNotification, topicMembers: Int = 0) async throws(PostgresError) -> AppNotification? {
        let rows = try await db.query(
            """
            INSERT INTO app_notifications (id, app, credential_id, kind, dedupe_key, fingerprint, state, request, request_id, traceparent,
                                           user_ids, accepted, unknown, not_before, expires_at)
            SELECT \(new.id), \(new.app), \(new.credentialID), \(new.kind), \(new.dedupeKey), \(new.fingerprint),
                   \((new.scheduledRequest == nil ? AppNotification.State.requested : .scheduled).rawValue),
                   \(new.scheduledRequest), \(new.requestID), \(new.traceparent), known.ids,
                   cardinality(known.ids) + \(topicMembers)::integer,
                   \(new.userIDs.count)::integer - cardinality(known.ids), \(new.notBefore), \(new.expiresAt)
            FROM (SELECT coalesce(array_agg(id ORDER BY id), '{}') AS ids FROM users
                  WHERE state = 'active' AND id = ANY(\(new.userIDs))) known
            ON CONFLICT (app, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
            RETURNING \(unescaped: AppNotification.columns)
            """)
        return try rows.first.map(AppNotification.init(row:))
    }

    /// Whether an app has ``maxScheduled`` notifications that wait; concurrent requests may exceed it by a few.
    public func hasMaxScheduled(app: String) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT id FROM app_notifications WHERE app = \(app) AND state = 'scheduled' OFFSET \(Self.maxScheduled - 1) LIMIT 1
            """
        return try await !db.query(query.readOnly()).isEmpty
    }

    /// Returns an app's notification by its dedupe key.
    public func find(dedupeKey: String, of app: String) async throws(PostgresError) -> AppNotification? {
        let query: PostgresQuery = """
            SELECT \(unescaped: AppNotification.columns) FROM app_notifications WHERE app = \(app) AND dedupe_key = \(dedupeKey)
            """
        return try await db.query(query.readOnly()).first.map(AppNotification.init(row:))
    }

    /// Returns an app's notification; nil for the notification of another app.
    public func find(id: UUID, of app: String) async throws(PostgresError) -> AppNotification? {
        let query: PostgresQuery = "SELECT \(unescaped: AppNotification.columns) FROM app_notifications WHERE id = \(id) AND app = \(app)"
        return try await db.query(query.readOnly()).first.map(AppNotification.init(row:))
    }

    /// Returns the notifications that wait for their time, the next one first.
    ///
    /// - Parameter app: The app whose notifications are returned; nil for all apps.
    public func listScheduled(of app: String? = nil, limit: Int) async throws(PostgresError) -> [AppNotification] {
        let query: PostgresQuery = """
            SELECT \(unescaped: AppNotification.columns) FROM app_notifications
            WHERE state = 'scheduled' AND (\(app)::text IS NULL OR app = \(app)::text) ORDER BY not_before, id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(AppNotification.init(row:))
    }

    /// Takes at most `limit` due notifications: `scheduled → requested`. Publish their events in the same transaction. Skips notifications
    /// that another transaction has locked.
    public func takeDue(limit: Int) async throws(PostgresError) -> [DueAppNotification] {
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT id AS due_id, request AS due_request FROM app_notifications
                WHERE state = 'scheduled' AND not_before <= now() ORDER BY not_before LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            UPDATE app_notifications SET state = 'requested', request = NULL FROM due WHERE id = due_id
            RETURNING due_request, request_id, traceparent, expires_at
            """)
        return try rows.map { row throws(PostgresError) in
            DueAppNotification(
                request: try row.decode("due_request"), requestID: try row.decode("request_id"),
                traceparent: try row.decode("traceparent"), expiresAt: try row.decode("expires_at"))
        }
    }

    /// Cancels a notification that is not due yet: `scheduled → cancelled`. Its content and recipients are removed.
    ///
    /// - Parameter app: The app that it must belong to; nil for an operator.
    /// - Returns: Whether this call cancelled it.
    public func cancel(id: UUID, of app: String?) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE app_notifications SET state = 'cancelled', request = NULL, user_ids = '{}'
            WHERE id = \(id) AND (\(app)::text IS NULL OR app = \(app)::text) AND state = 'scheduled'
            """) == 1
    }

    /// Cancels all notifications that were requested with a credential and are not due yet, as ``cancel(id:of:)`` does.
    ///
    /// - Returns: The number of cancelled ones.
    public func cancelAll(by credentialID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE app_notifications SET state = 'cancelled', request = NULL, user_ids = '{}'
            WHERE credential_id = \(credentialID) AND state = 'scheduled'
            """)
    }

    /// Removes the recipients of notifications that do not need them any more: their deliveries are planned, or they get no deliveries.
    public func forgetRecipients(of ids: [UUID]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute("UPDATE app_notifications SET user_ids = '{}' WHERE id = ANY(\(ids)) AND cardinality(user_ids) > 0")
    }

    /// Removes a user from the recipients of notifications that are not planned yet.
    public func forget(userID: UUID) async throws(PostgresError) {
        try await db.execute(
            "UPDATE app_notifications SET user_ids = array_remove(user_ids, \(userID)) WHERE user_ids <> '{}' AND \(userID) = ANY(user_ids)"
        )
    }

    /// Deletes at most `limit` notifications that expired more than ``AppNotification/retention`` ago.
    ///
    /// - Returns: The number of deleted notifications.
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM app_notifications WHERE id IN (
                SELECT id FROM app_notifications
                WHERE expires_at <= now() - make_interval(secs => \(AppNotification.retention / .seconds(1)))
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
