import PostgresClient

extension Migration {
    /// Keeps messages in the outbox until every group that owes them an effect has taken it, so that whatever Redis loses is
    /// published again.
    ///
    /// Each change of state moves a row from one partial index to another, so that no update can stay heap-only and spare
    /// room in the pages would be of no use. What it costs is kept down by the number of indexes: the message id, which is
    /// ordered by time, takes the place of two. Rows live for a day, so the table is vacuumed by its size again.
    ///
    /// Messages that wait when this step is taken have no groups, and end with their publication as they did before.
    static let outboxLedger = Migration(
        number: 13, name: "outbox_ledger",
        up: """
            ALTER TABLE outbox
                DROP CONSTRAINT outbox_pkey,
                DROP CONSTRAINT outbox_message_id_key,
                ADD CONSTRAINT outbox_pkey PRIMARY KEY (message_id),
                ADD COLUMN consumer_groups text[]  NOT NULL DEFAULT '{}',
                ADD COLUMN state        text        NOT NULL DEFAULT 'waiting'
                           CHECK (state IN ('waiting', 'published', 'confirmed', 'dead', 'expired')),
                ADD COLUMN due_at       timestamptz,
                ADD COLUMN refusals     integer     NOT NULL DEFAULT 0 CHECK (refusals >= 0),
                ADD COLUMN publications integer     NOT NULL DEFAULT 0 CHECK (publications >= 0),
                ADD COLUMN published_at timestamptz,
                ADD COLUMN entry_id     text        CHECK (length(entry_id) <= 41),
                ADD COLUMN settled_at   timestamptz,
                ADD CONSTRAINT outbox_published_has_entry
                    CHECK (state <> 'published' OR (published_at IS NOT NULL AND entry_id IS NOT NULL AND due_at IS NOT NULL)),
                ADD CONSTRAINT outbox_terminal_has_time
                    CHECK ((state IN ('confirmed', 'dead', 'expired')) = (settled_at IS NOT NULL));
            ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

            CREATE INDEX outbox_waiting ON outbox (id) WHERE state = 'waiting';
            CREATE INDEX outbox_published ON outbox (due_at) WHERE state = 'published';
            CREATE INDEX outbox_by_request ON outbox (request_id) WHERE request_id IS NOT NULL;
            CREATE INDEX notifications_open_by_expiry ON notifications (expires_at)
                WHERE state IN ('requested', 'addressed');

            COMMENT ON TABLE outbox IS
                'Messages and what became of them; open until every group that has to has handled them.';
            COMMENT ON COLUMN outbox.consumer_groups IS 'Who has to handle it; nobody for what is only broadcast.';
            COMMENT ON COLUMN outbox.state IS 'waiting -> published -> confirmed | dead | expired; lost ones wait again.';
            COMMENT ON COLUMN outbox.due_at IS
                'When the relay may try again (waiting; NULL is at once), or when it is looked after (published).';
            COMMENT ON COLUMN outbox.entry_id IS 'The entry of the stream that the last publication became.';
            COMMENT ON COLUMN outbox.settled_at IS 'When the last group handled it, it became a dead letter, or was given up.';
            """,
        down: """
            DROP INDEX notifications_open_by_expiry;
            DROP INDEX outbox_by_request;
            DROP INDEX outbox_published;
            DROP INDEX outbox_waiting;
            -- The step before this one knows only messages that are not published.
            DELETE FROM outbox WHERE state <> 'waiting';
            ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
            ALTER TABLE outbox
                DROP CONSTRAINT outbox_pkey,
                ADD CONSTRAINT outbox_pkey PRIMARY KEY (id),
                ADD CONSTRAINT outbox_message_id_key UNIQUE (message_id),
                DROP COLUMN settled_at,
                DROP COLUMN entry_id,
                DROP COLUMN published_at,
                DROP COLUMN publications,
                DROP COLUMN refusals,
                DROP COLUMN due_at,
                DROP COLUMN state,
                DROP COLUMN consumer_groups;
            COMMENT ON TABLE outbox IS 'Messages to publish; deleted by the relay once the stream has them.';
            """
    )
}
