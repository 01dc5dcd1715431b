extension Baseline {
    /// Notifications, one per `dedupe_key`, and the receipts that phones report of them.
    ///
    /// The id of the request and the trace are kept here, because the event that names them is gone when a push is sent again.
    static let notifications = """
        CREATE TABLE notifications (
            id               uuid        PRIMARY KEY,
            dedupe_key       text        NOT NULL UNIQUE CHECK (length(dedupe_key) <= 200),
            kind             text        NOT NULL CHECK (kind IN ('job_completed', 'job_failed', 'sign_up', 'sign_in',
                                 'new_photos', 'chat_message', 'invitation', 'account_alert',
                                 'possession_check', 'custom')),
            recipient_type   text        NOT NULL CHECK (recipient_type IN ('session', 'user', 'topic', 'installation', 'list')),
            recipient_id     text        NOT NULL CHECK (length(recipient_id) <= 200),
            lane             text        NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
            parameters       jsonb       NOT NULL CHECK (jsonb_typeof(parameters) = 'object'),
            has_picture      boolean     NOT NULL DEFAULT false,
            state            text        NOT NULL DEFAULT 'requested'
                             CHECK (state IN ('requested', 'addressed', 'settled', 'skipped')),
            skip_reason      text,
            delivery_count   integer     NOT NULL DEFAULT 0,
            ended_deliveries integer     NOT NULL DEFAULT 0,
            request_id       text,
            traceparent      text,
            created_at       timestamptz NOT NULL DEFAULT now(),
            expires_at       timestamptz NOT NULL,
            settled_at       timestamptz,
            CONSTRAINT notifications_terminal_has_time
                CHECK ((state IN ('settled', 'skipped')) = (settled_at IS NOT NULL)),
            CONSTRAINT notifications_skipped_has_reason CHECK ((state = 'skipped') = (skip_reason IS NOT NULL))
        );
        CREATE INDEX notifications_by_creation ON notifications (created_at);
        CREATE INDEX notifications_open_by_expiry ON notifications (expires_at) WHERE state IN ('requested', 'addressed');
        CREATE INDEX notifications_open_by_recipient ON notifications (recipient_id) WHERE state IN ('requested', 'addressed');
        CREATE INDEX notifications_of_people ON notifications (recipient_id) WHERE recipient_type IN ('user', 'session');
        CREATE INDEX notifications_of_topics ON notifications (recipient_id, created_at) WHERE recipient_type = 'topic';
        COMMENT ON TABLE notifications IS 'Requests to notify a recipient; a delivery is the push of one to one installation.';
        COMMENT ON COLUMN notifications.dedupe_key IS
            'The same for the same subject, e.g. ekyc:<session>: a second request changes nothing.';
        COMMENT ON COLUMN notifications.parameters IS 'Values that the text is rendered from; erased when the notification ends.';
        COMMENT ON COLUMN notifications.has_picture IS 'Whether the push has a picture; kept when the parameters are erased.';
        COMMENT ON COLUMN notifications.delivery_count IS 'The number of deliveries, once it is addressed.';
        COMMENT ON COLUMN notifications.ended_deliveries IS 'The number of deliveries that are neither pending nor sending.';

        CREATE TABLE notification_receipts (
            notification_id uuid        NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
            reporter_id     uuid        NOT NULL,
            event           text        NOT NULL CHECK (event IN ('delivered', 'opened', 'dismissed', 'suppressed')),
            user_id         uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            at              timestamptz NOT NULL,
            PRIMARY KEY (notification_id, reporter_id, event)
        );
        CREATE INDEX notification_receipts_by_user ON notification_receipts (user_id);
        COMMENT ON TABLE notification_receipts IS 'Receipts of pushes that phones reported; each event once per installation.';
        COMMENT ON COLUMN notification_receipts.reporter_id IS 'The installation of the push, or the user when it is unknown.';
        """
}
