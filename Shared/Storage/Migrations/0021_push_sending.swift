import PostgresClient

extension Migration {
    /// What sending in bulk needs: due deliveries are found lane by lane, so that what waits in one never hides another,
    /// and the senders share what FCM allows a project.
    static let pushSending = Migration(
        number: 21, name: "push_sending",
        up: """
            ALTER TABLE deliveries ADD COLUMN lane text NOT NULL DEFAULT 'normal' CHECK (lane IN ('urgent', 'normal', 'bulk'));
            UPDATE deliveries d SET lane = n.lane FROM notifications n
                WHERE n.id = d.notification_id AND d.state IN ('pending', 'sending');
            CREATE INDEX deliveries_due_by_lane ON deliveries (lane, next_at)
                WHERE state = 'sending' OR (state = 'pending' AND code IS NOT NULL);
            DROP INDEX deliveries_due_by_time;

            CREATE TABLE push_quota (
                project     text        PRIMARY KEY CHECK (length(project) <= 200),
                tokens      float8      NOT NULL DEFAULT 0 CHECK (tokens >= 0),
                bulk_tokens float8      NOT NULL DEFAULT 0 CHECK (bulk_tokens >= 0),
                refilled_at timestamptz NOT NULL DEFAULT '-infinity',
                bulk_since  timestamptz NOT NULL DEFAULT '-infinity',
                bulk_at     timestamptz NOT NULL DEFAULT '-infinity'
            ) WITH (fillfactor = 10);

            COMMENT ON COLUMN deliveries.lane IS 'notifications.lane.';
            COMMENT ON TABLE push_quota IS 'How many pushes a project may send now; its senders take some at a time.';
            COMMENT ON COLUMN push_quota.bulk_tokens IS 'What the bulk lane may take of them; grows slowly at its beginning.';
            COMMENT ON COLUMN push_quota.bulk_since IS 'When the bulk lane began after a pause.';
            COMMENT ON COLUMN push_quota.bulk_at IS 'When the bulk lane last took some.';
            """,
        down: """
            DROP TABLE push_quota;
            CREATE INDEX deliveries_due_by_time ON deliveries (next_at)
                WHERE state = 'sending' OR (state = 'pending' AND code IS NOT NULL);
            DROP INDEX deliveries_due_by_lane;
            ALTER TABLE deliveries DROP COLUMN lane;
            """
    )
}
