import PostgresClient

extension Migration {
    /// Which messages a consumer group has already handled.
    ///
    /// The primary key is the only index: message ids are UUIDv7, so that old rows are a range of it.
    static let inbox = Migration(
        number: 9, name: "inbox",
        up: """
            CREATE TABLE inbox (
                consumer_group text        NOT NULL CHECK (length(consumer_group) <= 100),
                message_id     uuid        NOT NULL,
                handled_at     timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (consumer_group, message_id)
            );

            COMMENT ON TABLE inbox IS
                'Written in the transaction of a handler''s effect, so that a message takes effect once.';
            """,
        down: "DROP TABLE inbox;"
    )
}
