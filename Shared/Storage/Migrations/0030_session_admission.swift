import PostgresClient

extension Migration {
    /// Where a session comes from and what its photos take, by which uploads are refused while too many are undecided; and answers
    /// of requests by e-mails that have no account, which are kept under the id that the account would have.
    static let sessionAdmission = Migration(
        number: 30, name: "session_admission",
        up: """
            ALTER TABLE sessions
                ADD COLUMN address_key bytea CHECK (octet_length(address_key) = 32),
                ADD COLUMN photo_bytes bigint NOT NULL DEFAULT 0 CHECK (photo_bytes >= 0);
            DROP INDEX sessions_open_by_deadline;
            CREATE INDEX sessions_open_by_deadline ON sessions (deadline_at) INCLUDE (address_key, installation_key, photo_bytes)
                WHERE state IN ('received', 'processing');
            ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_user_id_fkey;

            COMMENT ON COLUMN sessions.address_key IS 'HMAC of the client''s address (IPv6: its /64).';
            COMMENT ON COLUMN sessions.photo_bytes IS 'Bytes of the photos as they were uploaded.';
            """,
        down: """
            DELETE FROM idempotency_keys WHERE user_id NOT IN (SELECT id FROM users);
            ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_user_id_fkey
                FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
            DROP INDEX sessions_open_by_deadline;
            CREATE INDEX sessions_open_by_deadline ON sessions (deadline_at) WHERE state IN ('received', 'processing');
            ALTER TABLE sessions DROP COLUMN address_key, DROP COLUMN photo_bytes;
            """
    )
}
