import PostgresClient

extension Migration {
    /// What has been said in conversations and read of it, what each installation shows just now, who does not want to be put
    /// back into a topic, and the names by which people are shown to others.
    ///
    /// What was said is not kept: a message is a number in its conversation, and a hash by which its repetition is known.
    /// Unread is what a topic counted less what a member has read, so that a badge costs two numbers and not a count of rows.
    /// `push_presence` is unlogged: a crash costs a push that nobody needed, and a lease is renewed within seconds anyway.
    static let conversations = Migration(
        number: 17, name: "conversations",
        up: """
            ALTER TABLE users ADD COLUMN display_name_sealed bytea;
            ALTER TABLE topics ADD COLUMN item_seq bigint NOT NULL DEFAULT 0 CHECK (item_seq >= 0);
            ALTER TABLE topic_members ADD COLUMN read_seq bigint NOT NULL DEFAULT 0 CHECK (read_seq >= 0);
            CREATE INDEX topic_members_by_user ON topic_members (user_id);

            CREATE TABLE conversation_messages (
                topic_id        uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
                message_id      text        NOT NULL CHECK (message_id ~ '^[A-Za-z0-9_.-]{1,64}$'),
                seq             bigint      NOT NULL CHECK (seq > 0),
                sender_id       uuid        NOT NULL,
                notification_id uuid        NOT NULL,
                fingerprint     bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
                created_at      timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (topic_id, message_id)
            );

            CREATE INDEX conversation_messages_by_id ON conversation_messages (message_id);
            CREATE INDEX conversation_messages_by_time ON conversation_messages (created_at);

            CREATE UNLOGGED TABLE push_presence (
                installation_key bytea       PRIMARY KEY CHECK (octet_length(installation_key) = 32),
                user_id          uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                topic_id         uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
                lease_until      timestamptz NOT NULL
            ) WITH (fillfactor = 70);

            CREATE INDEX push_presence_by_user ON push_presence (user_id);
            CREATE INDEX push_presence_by_topic ON push_presence (topic_id);

            CREATE TABLE topic_leavers (
                topic_id   uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
                user_id    uuid        NOT NULL,
                may_return boolean     NOT NULL DEFAULT true,
                left_at    timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (topic_id, user_id)
            );

            COMMENT ON COLUMN users.display_name_sealed IS 'The name that others see; NULL when none was given.';
            COMMENT ON COLUMN topics.item_seq IS 'The number of the newest message, or of the photos that were ready so far.';
            COMMENT ON COLUMN topic_members.read_seq IS 'What the member has seen of topics.item_seq; the rest is unread.';
            COMMENT ON TABLE conversation_messages IS 'That something was said; what, is in the push and nowhere else.';
            COMMENT ON COLUMN conversation_messages.fingerprint IS 'HMAC of sender and text under LOOKUP_KEY: is it a repetition?';
            COMMENT ON TABLE push_presence IS 'The conversation an installation shows on its screen, until lease_until.';
            COMMENT ON TABLE topic_leavers IS 'Who has left a topic and is not to be put back by others.';
            COMMENT ON COLUMN topic_leavers.may_return IS 'Whether they may come back by themselves: unless the owner closed the door.';
            """,
        down: """
            DROP TABLE topic_leavers;
            DROP TABLE push_presence;
            DROP TABLE conversation_messages;
            DROP INDEX topic_members_by_user;
            ALTER TABLE topic_members DROP COLUMN read_seq;
            ALTER TABLE topics DROP COLUMN item_seq;
            ALTER TABLE users DROP COLUMN display_name_sealed;
            """
    )
}
