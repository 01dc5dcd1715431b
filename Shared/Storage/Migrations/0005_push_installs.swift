import PostgresClient

extension Migration {
    /// App installations that can be pushed to.
    ///
    /// One row an installation and one `user_id` column: an installation belongs to at most one user by construction.
    /// `last_seen_at` is in no index, so that a re-registration stays a heap-only update in the page's spare room.
    static let pushInstalls = Migration(
        number: 5, name: "push_installs",
        up: """
            CREATE TABLE push_installs (
                id               uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
                installation_key bytea       NOT NULL UNIQUE CHECK (octet_length(installation_key) = 32),
                kind             text        NOT NULL CHECK (kind IN ('token', 'fid')),
                value_sealed     bytea       NOT NULL,
                value_hash       bytea       NOT NULL CHECK (octet_length(value_hash) = 32),
                user_id          uuid        REFERENCES users (id) ON DELETE SET NULL,
                generation       bigint      NOT NULL DEFAULT 1 CHECK (generation > 0),
                platform         text        CHECK (platform IN ('ios', 'android', 'web')),
                locale           text        CHECK (length(locale) <= 35),
                app_version      text        CHECK (length(app_version) <= 64),
                state            text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'invalid')),
                registered_at    timestamptz NOT NULL DEFAULT now(),
                last_seen_at     timestamptz NOT NULL DEFAULT now(),
                invalid_at       timestamptz,
                invalid_code     text,
                CONSTRAINT push_installs_invalid_has_time CHECK ((state = 'invalid') = (invalid_at IS NOT NULL))
            ) WITH (fillfactor = 85);

            CREATE INDEX push_installs_active_by_user ON push_installs (user_id)
                WHERE state = 'active' AND user_id IS NOT NULL;

            COMMENT ON TABLE push_installs IS 'One row an app installation, whatever its token is today.';
            COMMENT ON COLUMN push_installs.installation_key IS
                'HMAC of the installation id (the token up to its colon) under LOOKUP_KEY; survives token rotation.';
            COMMENT ON COLUMN push_installs.value_hash IS 'HMAC of the whole token or FID: has it changed?';
            COMMENT ON COLUMN push_installs.generation IS
                'Grows when the token changes or the installation passes from one user to another; fences late sends.';
            """,
        down: "DROP TABLE push_installs;"
    )
}
