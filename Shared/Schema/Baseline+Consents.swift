extension Baseline {
    /// Consents to the processing of faces, and exports of accounts.
    ///
    /// A consent is never changed: a trigger refuses that. It is deleted with its account only. The text is not stored: its operator keeps
    /// the texts, and the hash tells which one it was.
    static let consents = """
        CREATE TABLE consents (
            id         uuid        PRIMARY KEY,
            user_id    uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            version    text        NOT NULL CHECK (version ~ '^[A-Za-z0-9_.-]{1,64}$'),
            text_hash  bytea       NOT NULL CHECK (octet_length(text_hash) = 32),
            given_at   timestamptz NOT NULL,
            stored_at  timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX consents_by_user ON consents (user_id, given_at);
        COMMENT ON TABLE consents IS 'What users consented to with the photos of their faces. Rows are added, never changed.';
        COMMENT ON COLUMN consents.id IS 'The session of the photos.';
        COMMENT ON COLUMN consents.text_hash IS 'SHA-256 of the text as it was served.';
        COMMENT ON COLUMN consents.given_at IS 'When the photos were received with it; stored_at is when they took effect.';

        CREATE FUNCTION consents_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'consents are not changed' USING ERRCODE = 'insufficient_privilege';
        END $$;
        CREATE TRIGGER consents_unchanged BEFORE UPDATE ON consents FOR EACH ROW EXECUTE FUNCTION consents_refuse();

        CREATE TABLE account_exports (
            id          uuid        PRIMARY KEY,
            user_id     uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            started_at  timestamptz NOT NULL DEFAULT now(),
            lease_until timestamptz NOT NULL,
            ended_at    timestamptz
        );
        CREATE INDEX account_exports_by_user ON account_exports (user_id, started_at);
        CREATE INDEX account_exports_by_time ON account_exports (started_at);
        COMMENT ON TABLE account_exports IS 'Exports of accounts in the last 24 hours: one at a time, and a number a day.';
        COMMENT ON COLUMN account_exports.lease_until IS 'An export that has not ended by then has died with its process.';
        """
}
