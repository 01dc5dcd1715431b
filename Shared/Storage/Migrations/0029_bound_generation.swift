import PostgresClient

extension Migration {
    /// The generation in which an installation passed to its present user.
    ///
    /// A push that waits is for a user on an installation. When the app gets a new token meanwhile, the generation grows, so that what
    /// FCM says of the old token is not held against the new one; but the push is still for the same user, and is to be sent.
    static let boundGeneration = Migration(
        number: 29, name: "bound_generation",
        up: """
            ALTER TABLE push_installs ADD COLUMN bound_generation bigint NOT NULL DEFAULT 1;
            UPDATE push_installs SET bound_generation = generation WHERE generation > 1;
            ALTER TABLE push_installs ADD CONSTRAINT push_installs_bound_generation CHECK (bound_generation <= generation);

            COMMENT ON COLUMN push_installs.bound_generation IS
                'What was addressed in an earlier generation was meant for somebody else.';
            """,
        down: "ALTER TABLE push_installs DROP COLUMN bound_generation;"
    )
}
