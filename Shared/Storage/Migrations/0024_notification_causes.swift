import PostgresClient

extension Migration {
    /// What asked for a notification, kept with it instead of with the fan-out that some have: a push that is sent again
    /// belongs to the same request and the same trace as its first try, and no event is there any more to say which.
    static let notificationCauses = Migration(
        number: 24, name: "notification_causes",
        up: """
            ALTER TABLE notifications ADD COLUMN request_id text, ADD COLUMN traceparent text;
            UPDATE notifications n SET request_id = f.request_id, traceparent = f.traceparent
                FROM topic_fan_outs f WHERE f.notification_id = n.id;
            ALTER TABLE topic_fan_outs DROP COLUMN request_id, DROP COLUMN traceparent;
            """,
        down: """
            ALTER TABLE topic_fan_outs ADD COLUMN request_id text, ADD COLUMN traceparent text;
            UPDATE topic_fan_outs f SET request_id = n.request_id, traceparent = n.traceparent
                FROM notifications n WHERE n.id = f.notification_id;
            ALTER TABLE notifications DROP COLUMN request_id, DROP COLUMN traceparent;
            """
    )
}
