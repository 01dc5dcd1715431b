internal import Push

extension Baseline {
    private static let kinds = NotificationKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// Notifications, one per `dedupe_key`, and the receipts that phones report of them.
    ///
    /// The id of the request and the trace are kept here, because the event that names them is gone when a push is sent again.
    static let notifications = """
        CREATE TABLE notifications (
            id               uuid        PRIMARY KEY,
            dedupe_key       text        NOT NULL UNIQUE CHECK (length(dedupe_key) <= 200),
            kind             text        NOT NULL CHECK (kind IN (\(kinds))),
            recipient_type   text        NOT NULL CHECK (recipient_type IN ('session', 'user', 'topic', 'installation', 'list')),
            recipient_id     text        NOT NULL CHECK (length(recipient_id) <= 200),
            lane             text        NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
            content          bytea,
            has_picture      boolean     NOT NULL DEFAULT false,
            job_id           uuid,
            topic_id         uuid,
            sender_id        uuid,
            account_id       uuid,
            session_id       uuid,
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
            CONSTRAINT notifications_skipped_has_reason CHECK ((state = 'skipped') = (skip_reason IS NOT NULL)),
            CONSTRAINT notifications_terminal_is_erased CHECK (
                state IN ('requested', 'addressed') OR content IS NULL AND sender_id IS NULL AND account_id IS NULL)
        );
        CREATE INDEX notifications_by_creation ON notifications (created_at);
        CREATE INDEX notifications_open_by_expiry ON notifications (expires_at) WHERE state IN ('requested', 'addressed');
        CREATE INDEX notifications_open_by_recipient ON notifications (recipient_id) WHERE state IN ('requested', 'addressed');
        CREATE INDEX notifications_of_people ON notifications (recipient_id) WHERE recipient_type IN ('user', 'session');
        CREATE INDEX notifications_of_topics ON notifications (recipient_id, created_at) WHERE recipient_type = 'topic';
        COMMENT ON TABLE notifications IS 'Requests to notify a recipient; a delivery is the push of one to one installation.';
        COMMENT ON COLUMN notifications.dedupe_key IS
            'The same for the same subject, e.g. ekyc:<session>: a second request changes nothing.';
        COMMENT ON COLUMN notifications.content IS
            'What the push is rendered from, as JSON with sealed texts; erased when the notification ends.';
        COMMENT ON COLUMN notifications.has_picture IS 'Whether the push has a picture; kept when the content is erased.';
        COMMENT ON COLUMN notifications.job_id IS 'The image job that it is about.';
        COMMENT ON COLUMN notifications.topic_id IS 'The topic that it is about; a later topic of the same name is another.';
        COMMENT ON COLUMN notifications.sender_id IS 'The user whose text or picture it shows; erased with the content.';
        COMMENT ON COLUMN notifications.account_id IS 'The account of the session or alert that it is about; erased with the content.';
        COMMENT ON COLUMN notifications.session_id IS 'The session of a sign-in that waits to be confirmed.';
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
