extension Baseline {
    /// The outbox, which keeps a message until every consumer group has handled it or given it up, the inbox, which makes its effect happen
    /// once, and the dead letters: messages that a group has given up.
    ///
    /// Each change of state moves an outbox row from one partial index to another, so that no update can be heap-only; spare room in
    /// the pages would be useless. The message id is ordered by time and replaces two more indexes. LZ4 compresses bodies faster than the
    /// server's own method; a server that was built without LZ4 uses its own method.
    static let outboxAndInbox = """
        CREATE TABLE outbox (
            id              bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
            message_id      uuid        PRIMARY KEY,
            stream          text        NOT NULL CHECK (length(stream) <= 100),
            key             text        NOT NULL CHECK (octet_length(key) <= 256),
            type            text        NOT NULL CHECK (octet_length(type) <= 64),
            version         integer     NOT NULL CHECK (version > 0),
            occurred_at     timestamptz NOT NULL,
            traceparent     text,
            request_id      text,
            expires_at      timestamptz,
            body            bytea       NOT NULL CHECK (octet_length(body) <= 65536),
            created_at      timestamptz NOT NULL DEFAULT now(),
            consumer_groups text[]      NOT NULL DEFAULT '{}',
            state           text        NOT NULL DEFAULT 'waiting'
                            CHECK (state IN ('waiting', 'published', 'confirmed', 'expired')),
            is_redriven     boolean     NOT NULL DEFAULT false,
            due_at          timestamptz,
            refusals        integer     NOT NULL DEFAULT 0 CHECK (refusals >= 0),
            publications    integer     NOT NULL DEFAULT 0 CHECK (publications >= 0),
            published_at    timestamptz,
            entry_id        text        CHECK (length(entry_id) <= 41),
            settled_at      timestamptz,
            CONSTRAINT outbox_published_has_entry
                CHECK (state <> 'published' OR (published_at IS NOT NULL AND entry_id IS NOT NULL AND due_at IS NOT NULL)),
            CONSTRAINT outbox_terminal_has_time
                CHECK ((state IN ('confirmed', 'expired')) = (settled_at IS NOT NULL))
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
        CREATE INDEX outbox_waiting ON outbox (id) WHERE state = 'waiting';
        CREATE INDEX outbox_published ON outbox (due_at) WHERE state = 'published';
        CREATE INDEX outbox_by_request ON outbox (request_id) WHERE request_id IS NOT NULL;
        DO $$ BEGIN
            ALTER TABLE outbox ALTER COLUMN body SET COMPRESSION lz4;
        EXCEPTION WHEN feature_not_supported THEN
            NULL;
        END $$;
        COMMENT ON TABLE outbox IS 'Messages of committed transactions, until every consumer group has handled them or given them up.';
        COMMENT ON COLUMN outbox.body IS 'The event as JSON, at most 64 KiB; ids only, never pictures or tokens.';
        COMMENT ON COLUMN outbox.consumer_groups IS 'The groups that must handle the message; empty for a broadcast.';
        COMMENT ON COLUMN outbox.state IS
            'waiting -> published -> confirmed | expired; a message that Redis lost, or that is redriven, waits again.';
        COMMENT ON COLUMN outbox.is_redriven IS 'The message is published again for consumer_groups alone, which had given it up.';
        COMMENT ON COLUMN outbox.due_at IS
            'waiting: when the relay may publish it (NULL: at once). published: when the relay checks whether it was handled.';
        COMMENT ON COLUMN outbox.entry_id IS 'The stream entry of the last publication.';
        COMMENT ON COLUMN outbox.settled_at IS 'When the message was confirmed or expired.';

        CREATE TABLE inbox (
            consumer_group text        NOT NULL CHECK (length(consumer_group) <= 100),
            message_id     uuid        NOT NULL,
            handled_at     timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (consumer_group, message_id)
        );
        COMMENT ON TABLE inbox IS
            'Messages that a group has handled, written in the transaction of the handler''s effect, or given up (dead_letters).';

        CREATE TABLE dead_letters (
            stream           text        NOT NULL CHECK (length(stream) <= 100),
            id               uuid        NOT NULL,
            consumer_group   text        NOT NULL CHECK (length(consumer_group) <= 100),
            entry_id         text        NOT NULL CHECK (length(entry_id) <= 41),
            reason           text        NOT NULL CHECK (reason IN ('unreadable', 'failures', 'crashes')),
            error            text        NOT NULL CHECK (octet_length(error) <= 4096),
            failures         integer     NOT NULL CHECK (failures >= 0),
            crashes          integer     NOT NULL CHECK (crashes >= 0),
            consumer         text        NOT NULL,
            fields           bytea[]     NOT NULL CHECK (cardinality(fields) % 2 = 0),
            dead_lettered_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (stream, id, consumer_group)
        );
        CREATE INDEX dead_letters_by_age ON dead_letters (stream, consumer_group, dead_lettered_at, id);
        COMMENT ON TABLE dead_letters IS 'Messages that a consumer group has given up, until an operator redrives or drops them.';
        COMMENT ON COLUMN dead_letters.id IS 'The id of the message; of an entry without one, made of the id of the entry.';
        COMMENT ON COLUMN dead_letters.fields IS
            'The entry as names and values in turn; at most 64 KiB of one that is no message. Ids only, and sealed texts.';
        """
}
