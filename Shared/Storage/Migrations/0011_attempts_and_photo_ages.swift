import PostgresClient

extension Migration {
    /// What a failed sign-in leaves of the account's attempts, kept as it was when it was decided; and an index by which
    /// old photo hashes are found.
    ///
    /// Sessions that failed before this step have no number and tell none; they are gone within a day.
    static let attemptsAndPhotoAges = Migration(
        number: 11, name: "attempts_and_photo_ages",
        up: """
            ALTER TABLE sessions ADD COLUMN attempts_left integer;
            ALTER TABLE sessions ADD CONSTRAINT sessions_attempts_left_of_failed_sign_in
                CHECK (attempts_left IS NULL OR (attempts_left >= 0 AND state = 'failed' AND event = 'sign_in'));
            CREATE INDEX face_photo_hashes_by_age ON face_photo_hashes (created_at);

            COMMENT ON COLUMN sessions.attempts_left IS
                'Sign-ins left before the lock, as of completed_at; later events must not show through it.';
            """,
        down: """
            DROP INDEX face_photo_hashes_by_age;
            ALTER TABLE sessions DROP COLUMN attempts_left;
            """
    )
}
