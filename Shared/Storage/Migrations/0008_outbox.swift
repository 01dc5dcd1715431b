import PostgresClient

extension Migration {
    /// Messages that a committed transaction owes to the streams, and the bell that wakes the relay.
    ///
    /// The trigger fires once a statement, not once a row: notifying commits are serialised by the server, so a batch
    /// must ring once. Rows live for milliseconds, so the table is vacuumed by count, not by share of its size.
    static let outbox = Migration(
        number: 8, name: "outbox",
        up: """
            CREATE TABLE outbox (
                id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                stream      text        NOT NULL CHECK (length(stream) <= 100),
                message_id  uuid        NOT NULL UNIQUE,
                key         text        NOT NULL CHECK (octet_length(key) <= 256),
                type        text        NOT NULL CHECK (octet_length(type) <= 64),
                version     integer     NOT NULL CHECK (version > 0),
                occurred_at timestamptz NOT NULL,
                traceparent text,
                request_id  text,
                expires_at  timestamptz,
                body        bytea       NOT NULL CHECK (octet_length(body) <= 65536),
                created_at  timestamptz NOT NULL DEFAULT now()
            ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

            CREATE FUNCTION outbox_ring() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_notify('heliograph_outbox', '');
                RETURN NULL;
            END $$;

            CREATE TRIGGER outbox_ring AFTER INSERT ON outbox
                FOR EACH STATEMENT EXECUTE FUNCTION outbox_ring();

            COMMENT ON TABLE outbox IS 'Messages to publish; deleted by the relay once the stream has them.';
            COMMENT ON COLUMN outbox.body IS 'The event as JSON, at most 64 KiB; ids only, never pictures or tokens.';
            """,
        down: """
            DROP TABLE outbox;
            DROP FUNCTION outbox_ring();
            """
    )
}
