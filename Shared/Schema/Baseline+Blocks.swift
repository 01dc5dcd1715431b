extension Baseline {
    /// Users whom users block or allow, and reports of users, topics and messages.
    ///
    /// `blocked_id`, `contact_id` and the subject of a report have no foreign key, because it must not disclose whether an id belongs to an
    /// account. The index by the blocked user serves the planning of pushes: a push has one sender, who has few blockers. The index by the
    /// contact serves erasures.
    static let blocks = """
        CREATE TABLE user_blocks (
            user_id    uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            blocked_id uuid        NOT NULL CHECK (blocked_id <> user_id),
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (user_id, blocked_id)
        );
        CREATE INDEX user_blocks_by_blocked ON user_blocks (blocked_id, user_id);
        COMMENT ON TABLE user_blocks IS 'Users of whom a user gets no pushes and no announced invitations; invisible to them.';

        CREATE TABLE user_contacts (
            user_id    uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            contact_id uuid        NOT NULL CHECK (contact_id <> user_id),
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (user_id, contact_id)
        );
        CREATE INDEX user_contacts_by_contact ON user_contacts (contact_id, user_id);
        COMMENT ON TABLE user_contacts IS 'Users who may add a user to their topics without an invitation, unless the user blocks them.';

        CREATE TABLE reports (
            id           uuid        PRIMARY KEY,
            reporter_id  uuid        REFERENCES users (id) ON DELETE SET NULL,
            subject_type text        NOT NULL CHECK (subject_type IN ('user', 'topic', 'message')),
            subject_id   text        NOT NULL CHECK (length(subject_id) BETWEEN 1 AND 200),
            sender_id    uuid,
            reason       text        NOT NULL CHECK (reason IN ('spam', 'harassment', 'impersonation', 'violence', 'sexual_content',
                         'self_harm', 'other')),
            text_sealed  bytea,
            state        text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
            created_at   timestamptz NOT NULL DEFAULT now(),
            closed_at    timestamptz,
            CONSTRAINT reports_closed_has_time CHECK ((state = 'closed') = (closed_at IS NOT NULL))
        );
        CREATE INDEX reports_by_state ON reports (state, created_at);
        CREATE INDEX reports_of_reporter ON reports (reporter_id, created_at);
        CREATE INDEX reports_about_user ON reports (subject_id) WHERE subject_type = 'user';
        CREATE INDEX reports_of_sender ON reports (sender_id) WHERE sender_id IS NOT NULL;
        CREATE UNIQUE INDEX reports_open ON reports (reporter_id, subject_type, subject_id) WHERE state = 'open';
        COMMENT ON TABLE reports IS 'Reports by users for an operator to look at; a user''s open report of a subject is one row.';
        COMMENT ON COLUMN reports.subject_id IS 'A user''s id; a topic''s name; a topic''s name, a slash and a message''s id.';
        COMMENT ON COLUMN reports.sender_id IS 'The sender of the message, if the reporter is a member and the message is kept.';
        COMMENT ON COLUMN reports.text_sealed IS 'What the reporter wrote: AES-256-GCM, bound to the report.';
        """
}
