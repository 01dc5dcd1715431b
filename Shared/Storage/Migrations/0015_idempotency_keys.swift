import PostgresClient

extension Migration {
    /// What requests were answered that carried a key of their own, so that a repetition gets the same answer.
    ///
    /// A row without an answer is a lease: whoever holds it works on the request, and when it runs out, another may.
    static let idempotencyKeys = Migration(
        number: 15, name: "idempotency_keys",
        up: """
            CREATE TABLE idempotency_keys (
                user_id       uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                route         text        NOT NULL CHECK (length(route) BETWEEN 1 AND 64),
                key           text        NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
                owner         uuid        NOT NULL,
                locked_until  timestamptz NOT NULL,
                expires_at    timestamptz NOT NULL,
                created_at    timestamptz NOT NULL DEFAULT now(),
                answered_at   timestamptz,
                fingerprint   bytea       CHECK (octet_length(fingerprint) = 32),
                resource_id   uuid,
                answer_status integer     CHECK (answer_status BETWEEN 200 AND 599),
                answer        text        CHECK (length(answer) <= 8192),
                PRIMARY KEY (user_id, route, key),
                CONSTRAINT idempotency_keys_answer_is_whole
                    CHECK (num_nulls(answered_at, fingerprint, resource_id, answer_status, answer) IN (0, 5))
            );

            CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

            COMMENT ON TABLE idempotency_keys IS 'Answers to requests that may come again; kept for 24 hours.';
            COMMENT ON COLUMN idempotency_keys.owner IS 'The request that works on it, or that answered it.';
            COMMENT ON COLUMN idempotency_keys.locked_until IS 'Until then its owner is believed to be alive.';
            COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of what the request asked for.';
            COMMENT ON COLUMN idempotency_keys.resource_id IS 'What the request made.';
            """,
        down: "DROP TABLE idempotency_keys;"
    )
}
