import PostgresClient

extension Migration {
    /// What somebody is to be told, once per `dedupe_key`.
    static let notifications = Migration(
        number: 6, name: "notifications",
        up: """
            CREATE TABLE notifications (
                id             uuid        PRIMARY KEY,
                dedupe_key     text        NOT NULL UNIQUE CHECK (length(dedupe_key) <= 200),
                kind           text        NOT NULL CHECK (kind IN ('job_completed', 'job_failed', 'sign_up', 'sign_in',
                                   'new_photos', 'chat_message')),
                recipient_type text        NOT NULL CHECK (recipient_type IN ('session', 'user', 'topic')),
                recipient_id   text        NOT NULL CHECK (length(recipient_id) <= 200),
                lane           text        NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
                parameters     jsonb       NOT NULL CHECK (jsonb_typeof(parameters) = 'object'),
                state          text        NOT NULL DEFAULT 'requested'
                               CHECK (state IN ('requested', 'addressed', 'settled', 'skipped')),
                skip_reason    text,
                created_at     timestamptz NOT NULL DEFAULT now(),
                expires_at     timestamptz NOT NULL,
                settled_at     timestamptz,
                CONSTRAINT notifications_terminal_has_time
                    CHECK ((state IN ('settled', 'skipped')) = (settled_at IS NOT NULL)),
                CONSTRAINT notifications_skipped_has_reason CHECK ((state = 'skipped') = (skip_reason IS NOT NULL))
            );

            CREATE INDEX notifications_by_creation ON notifications (created_at);

            COMMENT ON TABLE notifications IS 'One row a thing to tell; deliveries are its rows per installation.';
            COMMENT ON COLUMN notifications.dedupe_key IS
                'Stable per subject, e.g. ekyc:<session>: a second request changes nothing.';
            COMMENT ON COLUMN notifications.parameters IS
                'What the text is rendered from; emptied when the notification ends.';
            """,
        down: "DROP TABLE notifications;"
    )
}
