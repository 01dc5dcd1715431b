public import FoundationEssentials
public import PostgresClient

extension PushInquiryRepository {
    /// Returns the notifications of apps' own servers with these ids, or that a request made, in any state.
    ///
    /// - Parameter requestID: The `X-Request-ID` of the request; nil to search by ids only.
    public func appNotifications(ids: [UUID], requestID: String? = nil) async throws(PostgresError) -> [AppNotification] {
        let query: PostgresQuery = """
            SELECT \(unescaped: AppNotification.columns) FROM app_notifications WHERE id = ANY(\(ids))
            UNION SELECT \(unescaped: AppNotification.columns) FROM app_notifications WHERE request_id = \(requestID)
            ORDER BY created_at, id
            """
        return try await db.query(query.readOnly()).map(AppNotification.init(row:))
    }

    /// Returns the notifications that wait for their time and are meant for a user, the next one first: those that name the user, and those
    /// for a topic that the user is in now. The next ones of all apps are searched, ``maxSearched`` of them.
    public func scheduledNotifications(for userID: UUID, limit: Int) async throws(PostgresError) -> [AppNotification] {
        // A waiting notification is stored as an event in JSON, and its texts are sealed. So a topic's name in quotes can only be its
        // recipient.
        let query: PostgresQuery = """
            SELECT \(unescaped: AppNotification.columns)
            FROM (SELECT * FROM app_notifications WHERE state = 'scheduled' ORDER BY not_before LIMIT \(Self.maxSearched)) n
            WHERE \(userID) = ANY(n.user_ids)
               OR cardinality(n.user_ids) = 0 AND EXISTS (
                    SELECT FROM topic_members m JOIN topics t ON t.id = m.topic_id
                    WHERE m.user_id = \(userID) AND position(convert_to('"' || t.name || '"', 'UTF8') IN n.request) > 0)
            ORDER BY not_before, id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(AppNotification.init(row:))
    }
}
