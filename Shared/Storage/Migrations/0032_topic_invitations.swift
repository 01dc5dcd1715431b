import PostgresClient

extension Migration {
    /// Invitations into topics, and how many were made lately.
    ///
    /// An id that belongs to no account is invited as any other: there is no foreign key to `users`, and the same rows are
    /// written. The log has no foreign key to `topics` either, so that deleting a topic does not give an account its quota back.
    static let topicInvitations = Migration(
        number: 32, name: "topic_invitations",
        up: """
            CREATE TABLE topic_invitations (
                topic_id     uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
                user_id      uuid        NOT NULL,
                inviter_id   uuid        NOT NULL,
                is_announced boolean     NOT NULL,
                created_at   timestamptz NOT NULL DEFAULT now(),
                expires_at   timestamptz NOT NULL,
                PRIMARY KEY (topic_id, user_id)
            );
            CREATE INDEX topic_invitations_announced ON topic_invitations (user_id) WHERE is_announced;
            CREATE INDEX topic_invitations_by_expiry ON topic_invitations (expires_at);

            CREATE TABLE topic_invitation_log (
                id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                inviter_id   uuid        NOT NULL,
                user_id      uuid        NOT NULL,
                is_announced boolean     NOT NULL,
                created_at   timestamptz NOT NULL DEFAULT now()
            );
            CREATE INDEX topic_invitation_log_of_inviter ON topic_invitation_log (inviter_id, created_at);
            CREATE INDEX topic_invitation_log_announced ON topic_invitation_log (user_id, created_at) WHERE is_announced;
            CREATE INDEX topic_invitation_log_by_time ON topic_invitation_log (created_at);

            ALTER TABLE notifications DROP CONSTRAINT notifications_kind_check;
            ALTER TABLE notifications ADD CONSTRAINT notifications_kind_check CHECK (kind IN (
                'job_completed', 'job_failed', 'sign_up', 'sign_in', 'new_photos', 'chat_message', 'invitation'));

            COMMENT ON TABLE topic_invitations IS
                'Open invitations: the user is no member until they accept. Accepting, declining and withdrawing delete the row.';
            COMMENT ON COLUMN topic_invitations.user_id IS 'Not a foreign key: an id that belongs to no account is invited the same way.';
            COMMENT ON COLUMN topic_invitations.is_announced IS 'Whether a push was requested: false above the limits of the invited user.';
            COMMENT ON TABLE topic_invitation_log IS
                'Invitations made in the last 24 hours, ended ones too: the quotas of inviting accounts and of invited users.';
            """,
        down: """
            DELETE FROM notifications WHERE kind = 'invitation';
            ALTER TABLE notifications DROP CONSTRAINT notifications_kind_check;
            ALTER TABLE notifications ADD CONSTRAINT notifications_kind_check CHECK (kind IN (
                'job_completed', 'job_failed', 'sign_up', 'sign_in', 'new_photos', 'chat_message'));
            DROP TABLE topic_invitation_log;
            DROP TABLE topic_invitations;
            """
    )
}
