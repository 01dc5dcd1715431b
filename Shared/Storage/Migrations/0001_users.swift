import PostgresClient

extension Migration {
    /// People, known only by a keyed hash of their e-mail and the sealed e-mail itself.
    static let users = Migration(
        number: 1, name: "users",
        up: """
            CREATE TABLE users (
                id           uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
                email_lookup bytea       NOT NULL UNIQUE CHECK (octet_length(email_lookup) = 32),
                email_sealed bytea       NOT NULL,
                created_at   timestamptz NOT NULL DEFAULT now()
            );

            COMMENT ON TABLE users IS 'One row a person. No e-mail in clear: looked up by HMAC, sealed for display.';
            COMMENT ON COLUMN users.email_lookup IS 'HMAC-SHA256 of the normalised e-mail under LOOKUP_KEY.';
            """,
        down: "DROP TABLE users;"
    )
}
