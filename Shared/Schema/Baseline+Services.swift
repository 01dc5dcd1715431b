extension Baseline {
    /// Credentials of apps' own servers, and the notifications that these request.
    ///
    /// An app has several credentials while one replaces another, so topics and notifications belong to the app, not to a credential. The
    /// recipients of a notification are one row, however many they are, and are removed when the notification is addressed.
    static let services = """
        CREATE TABLE service_credentials (
            id           uuid        PRIMARY KEY,
            app          text        NOT NULL CHECK (app ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
            name         text        NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
            secret_hash  bytea       NOT NULL CHECK (octet_length(secret_hash) = 32),
            scopes       text[]      NOT NULL CHECK (cardinality(scopes) > 0
                         AND scopes <@ ARRAY['topics:write', 'notify', 'notify:urgent', 'users:erase']),
            created_at   timestamptz NOT NULL DEFAULT now(),
            expires_at   timestamptz,
            revoked_at   timestamptz,
            last_used_at timestamptz
        );
        COMMENT ON TABLE service_credentials IS 'API keys of apps'' own servers; a key is found by its id, and only its hash is stored.';
        COMMENT ON COLUMN service_credentials.app IS 'The app that owns the topics and notifications made with it.';
        COMMENT ON COLUMN service_credentials.secret_hash IS 'SHA-256 of the secret, which has 256 bits.';
        COMMENT ON COLUMN service_credentials.last_used_at IS 'At most a minute behind.';

        CREATE TABLE app_notifications (
            id            uuid        PRIMARY KEY,
            app           text        NOT NULL CHECK (length(app) BETWEEN 1 AND 32),
            credential_id uuid        NOT NULL,
            kind          text        NOT NULL CHECK (kind ~ '^[a-z0-9_.-]{1,64}$'),
            dedupe_key    text        CHECK (length(dedupe_key) BETWEEN 1 AND 128),
            fingerprint   bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
            state         text        NOT NULL CHECK (state IN ('scheduled', 'requested', 'cancelled')),
            request       bytea       CHECK (octet_length(request) <= 32768),
            request_id    text,
            traceparent   text,
            user_ids      uuid[]      NOT NULL DEFAULT '{}' CHECK (cardinality(user_ids) <= 1000),
            accepted      integer     NOT NULL CHECK (accepted >= 0),
            unknown       integer     NOT NULL CHECK (unknown >= 0),
            created_at    timestamptz NOT NULL DEFAULT now(),
            not_before    timestamptz NOT NULL,
            expires_at    timestamptz NOT NULL CHECK (expires_at > not_before),
            CONSTRAINT app_notifications_scheduled_has_request CHECK ((state = 'scheduled') = (request IS NOT NULL))
        );
        CREATE UNIQUE INDEX app_notifications_dedupe ON app_notifications (app, dedupe_key) WHERE dedupe_key IS NOT NULL;
        CREATE INDEX app_notifications_due ON app_notifications (not_before) WHERE state = 'scheduled';
        CREATE INDEX app_notifications_scheduled ON app_notifications (app) WHERE state = 'scheduled';
        CREATE INDEX app_notifications_to_users ON app_notifications (id) WHERE user_ids <> '{}';
        CREATE INDEX app_notifications_by_expiry ON app_notifications (expires_at);
        CREATE INDEX app_notifications_by_request ON app_notifications (request_id) WHERE request_id IS NOT NULL;
        COMMENT ON TABLE app_notifications IS 'Notifications that apps'' own servers requested, one row for all recipients of one.';
        COMMENT ON COLUMN app_notifications.id IS 'notifications.id, once it is requested.';
        COMMENT ON COLUMN app_notifications.fingerprint IS
            'HMAC of the request under a key of LOOKUP_KEYS; a repetition with the same dedupe key must have it too.';
        COMMENT ON COLUMN app_notifications.request IS 'The event to publish at not_before, its texts sealed.';
        COMMENT ON COLUMN app_notifications.user_ids IS 'The recipients, until they are addressed; empty for a topic.';
        COMMENT ON COLUMN app_notifications.accepted IS 'The number of recipients that were accounts at the time of the request.';
        COMMENT ON COLUMN app_notifications.unknown IS 'The number of recipients that were not.';
        """
}
