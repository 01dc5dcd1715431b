import PostgresClient

extension Migration {
    /// Access and refresh tokens, as SHA-256 hashes only.
    static let accessTokens = Migration(
        number: 3, name: "access_tokens",
        up: """
            CREATE TABLE access_tokens (
                id                 uuid        PRIMARY KEY,
                user_id            uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                session_id         uuid        NOT NULL,
                family_id          uuid        NOT NULL,
                access_hash        bytea       NOT NULL UNIQUE CHECK (octet_length(access_hash) = 32),
                refresh_hash       bytea       NOT NULL UNIQUE CHECK (octet_length(refresh_hash) = 32),
                installation_key   bytea       CHECK (octet_length(installation_key) = 32),
                created_at         timestamptz NOT NULL DEFAULT now(),
                expires_at         timestamptz NOT NULL,
                refresh_expires_at timestamptz NOT NULL,
                revoked_at         timestamptz,
                CONSTRAINT access_tokens_refresh_outlives_access CHECK (refresh_expires_at >= expires_at)
            );

            CREATE INDEX access_tokens_by_user ON access_tokens (user_id) WHERE revoked_at IS NULL;
            CREATE INDEX access_tokens_by_family ON access_tokens (family_id) WHERE revoked_at IS NULL;
            CREATE INDEX access_tokens_by_expiry ON access_tokens (refresh_expires_at);

            COMMENT ON TABLE access_tokens IS
                'One row a minted pair; a family is a sign-in and every refresh that followed.';
            COMMENT ON COLUMN access_tokens.session_id IS
                'The sign-in it came from; no foreign key, the session dies first.';
            """,
        down: "DROP TABLE access_tokens;"
    )
}
