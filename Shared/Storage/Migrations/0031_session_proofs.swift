import PostgresClient

extension Migration {
    /// What an undecided sign-up knows of the e-mail or the sign-in it came with, and an index of the installations on
    /// which users signed in.
    ///
    /// The account is made only with its face, so that no row of `users` stays behind from a sign-up that failed. The index finds
    /// revoked pairs too: an installation that signed in lately has a budget of failed sign-ins of its own, signed out or not.
    static let sessionProofs = Migration(
        number: 31, name: "session_proofs",
        up: """
            ALTER TABLE sessions
                ADD COLUMN email_lookup bytea CHECK (octet_length(email_lookup) = 32),
                ADD COLUMN email_sealed bytea,
                ADD COLUMN authorised_by uuid;
            ALTER TABLE sessions ADD CONSTRAINT sessions_authorised_by_a_sign_in
                CHECK (authorised_by IS NULL OR authorised);
            ALTER TABLE sessions ADD CONSTRAINT sessions_email_of_open_sign_up
                CHECK (num_nulls(email_lookup, email_sealed) = 2
                       OR (num_nulls(email_lookup, email_sealed) = 0 AND event = 'sign_up' AND NOT authorised
                           AND state IN ('received', 'processing')));

            CREATE INDEX access_tokens_by_installation ON access_tokens (user_id, installation_key, created_at);

            COMMENT ON COLUMN sessions.email_lookup IS 'users.email_lookup of an undecided sign-up; wiped with the decision.';
            COMMENT ON COLUMN sessions.email_sealed IS 'users.email_sealed of an undecided sign-up; wiped with the decision.';
            COMMENT ON COLUMN sessions.authorised_by IS
                'access_tokens.family_id of the bearer; checked again with the decision.';
            """,
        down: """
            DROP INDEX access_tokens_by_installation;
            ALTER TABLE sessions DROP CONSTRAINT sessions_email_of_open_sign_up,
                DROP CONSTRAINT sessions_authorised_by_a_sign_in;
            ALTER TABLE sessions DROP COLUMN email_lookup, DROP COLUMN email_sealed, DROP COLUMN authorised_by;
            """
    )
}
