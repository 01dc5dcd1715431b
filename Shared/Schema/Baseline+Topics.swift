extension Baseline {
    /// Topics and their members.
    ///
    /// `user_id` has no foreign key to `users` in any table of topics: whether an id belongs to an account must not show, because the
    /// push of a refused sign-in names an id for unknown e-mails too. A badge is the difference of two numbers, `topics.item_seq` and
    /// `topic_members.read_seq`, instead of a count of rows.
    static let topics = """
        CREATE TABLE topics (
            id              uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
            name            text        NOT NULL UNIQUE CHECK (name ~ '^(event|conversation):[A-Za-z0-9_-]{1,64}$'),
            owner_id        uuid        REFERENCES users (id) ON DELETE CASCADE,
            owner_app       text        CHECK (length(owner_app) BETWEEN 1 AND 32),
            owned_since     timestamptz NOT NULL DEFAULT now(),
            members_visible boolean     NOT NULL DEFAULT false,
            member_count    integer     NOT NULL DEFAULT 1 CHECK (member_count >= 0),
            item_seq        bigint      NOT NULL DEFAULT 0 CHECK (item_seq >= 0),
            created_at      timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT topics_one_owner CHECK (num_nonnulls(owner_id, owner_app) = 1)
        );
        CREATE INDEX topics_by_owner ON topics (owner_id);
        CREATE INDEX topics_by_app ON topics (owner_app) WHERE owner_app IS NOT NULL;
        COMMENT ON TABLE topics IS 'Groups of users that receive the same pushes; one that a user owns is deleted with the last member.';
        COMMENT ON COLUMN topics.owner_id IS 'The user who may change the members: the creator, then the longest member.';
        COMMENT ON COLUMN topics.owner_app IS
            'The app whose own server may change the members, in place of a user; see service_credentials.app.';
        COMMENT ON COLUMN topics.owned_since IS 'When the topic got its owner: who joined before has not accepted an invitation of theirs.';
        COMMENT ON COLUMN topics.members_visible IS 'Whether the list of members shows all of them to each; the owner sees all anyway.';
        COMMENT ON COLUMN topics.member_count IS 'The number of rows in topic_members, updated under the lock on this row.';
        COMMENT ON COLUMN topics.item_seq IS 'The number of the newest message, or the number of photos that became ready.';

        CREATE TABLE topic_members (
            topic_id    uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
            user_id     uuid        NOT NULL,
            read_seq    bigint      NOT NULL DEFAULT 0 CHECK (read_seq >= 0),
            joined_at   timestamptz NOT NULL DEFAULT now(),
            is_accepted boolean     NOT NULL DEFAULT false,
            PRIMARY KEY (topic_id, user_id)
        );
        CREATE INDEX topic_members_by_user ON topic_members (user_id, joined_at, topic_id);
        CREATE INDEX topic_members_by_standing ON topic_members (topic_id, joined_at, user_id);
        COMMENT ON TABLE topic_members IS 'Members of topics.';
        COMMENT ON COLUMN topic_members.read_seq IS 'The item of topics.item_seq up to which the member has read.';
        COMMENT ON COLUMN topic_members.is_accepted IS
            'Whether the member has accepted an invitation of the owner at that time, who may add them to other topics.';

        CREATE TABLE topic_leavers (
            topic_id   uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
            user_id    uuid        NOT NULL,
            may_return boolean     NOT NULL DEFAULT true,
            left_at    timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (topic_id, user_id)
        );
        CREATE INDEX topic_leavers_by_user ON topic_leavers (user_id);
        COMMENT ON TABLE topic_leavers IS 'Users who left a topic; other members cannot add them again.';
        COMMENT ON COLUMN topic_leavers.may_return IS 'Whether they may join again by themselves; false when the owner removed them.';
        """

    /// Invitations into topics.
    ///
    /// The log has no foreign key to `topics`, so that deleting a topic does not return the inviter's quota.
    static let invitations = """
        CREATE TABLE topic_invitations (
            topic_id     uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
            user_id      uuid        NOT NULL,
            inviter_id   uuid        NOT NULL,
            is_announced boolean     NOT NULL,
            created_at   timestamptz NOT NULL DEFAULT now(),
            expires_at   timestamptz NOT NULL,
            PRIMARY KEY (topic_id, user_id)
        );
        CREATE INDEX topic_invitations_by_user ON topic_invitations (user_id, created_at, topic_id);
        CREATE INDEX topic_invitations_of_inviter ON topic_invitations (inviter_id);
        CREATE INDEX topic_invitations_announced ON topic_invitations (user_id) WHERE is_announced;
        CREATE INDEX topic_invitations_by_expiry ON topic_invitations (expires_at);
        COMMENT ON TABLE topic_invitations IS
            'Open invitations: the user is no member until they accept. Accepting, declining and withdrawing delete the row.';
        COMMENT ON COLUMN topic_invitations.user_id IS 'Not a foreign key: an id that belongs to no account is invited the same way.';
        COMMENT ON COLUMN topic_invitations.is_announced IS 'Whether a push was requested: false above the limits of the invited user.';

        CREATE TABLE topic_invitation_log (
            id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            inviter_id   uuid        NOT NULL,
            user_id      uuid        NOT NULL,
            is_announced boolean     NOT NULL,
            created_at   timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX topic_invitation_log_of_inviter ON topic_invitation_log (inviter_id, created_at);
        CREATE INDEX topic_invitation_log_by_user ON topic_invitation_log (user_id);
        CREATE INDEX topic_invitation_log_announced ON topic_invitation_log (user_id, created_at) WHERE is_announced;
        CREATE INDEX topic_invitation_log_by_time ON topic_invitation_log (created_at);
        COMMENT ON TABLE topic_invitation_log IS
            'Invitations and additions of users in the last 24 hours, ended ones too: the quotas of inviting and of invited users.';
        """

    /// Messages of conversations and presence.
    ///
    /// The text of a message is not stored: a message is a number in its conversation and a hash that detects repetitions.
    /// `push_presence` is not logged: a crash costs one needless push, and phones renew their lease within seconds.
    static let conversations = """
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
        CREATE INDEX conversation_messages_by_sender ON conversation_messages (topic_id, sender_id, seq);
        CREATE INDEX conversation_messages_of_sender ON conversation_messages (sender_id);
        CREATE INDEX conversation_messages_by_id ON conversation_messages (message_id);
        CREATE INDEX conversation_messages_by_time ON conversation_messages (created_at);
        COMMENT ON TABLE conversation_messages IS 'Messages of conversations without their text, which is in the push only.';
        COMMENT ON COLUMN conversation_messages.fingerprint IS 'HMAC of sender and text under a key of LOOKUP_KEYS; detects repetitions.';

        CREATE UNLOGGED TABLE push_presence (
            installation_key bytea       PRIMARY KEY CHECK (octet_length(installation_key) = 32),
            user_id          uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            topic_id         uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
            lease_until      timestamptz NOT NULL
        ) WITH (fillfactor = 70);
        CREATE INDEX push_presence_by_user ON push_presence (user_id);
        CREATE INDEX push_presence_by_lease ON push_presence (lease_until);
        CREATE INDEX push_presence_by_topic ON push_presence (topic_id);
        COMMENT ON TABLE push_presence IS 'The conversation that an installation shows on its screen, until lease_until.';
        """
}
