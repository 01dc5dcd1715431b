import PostgresClient

extension Migration {
    /// The generation in which an installation passed to its present user.
    ///
    /// A push that waits is for a user on an installation. When the app gets a new token meanwhile, the generation grows, so that what
    /// FCM says of the old token is not held against the new one; but the push is still for the same user, and is to be sent.
    ///
    /// A trigger keeps it: services of before this step change users too while they are being replaced.
    static let boundGeneration = Migration(
        number: 29, name: "bound_generation",
        up: """
            ALTER TABLE push_installs ADD COLUMN bound_generation bigint NOT NULL DEFAULT 1;
            UPDATE push_installs SET bound_generation = generation WHERE generation > 1;
            ALTER TABLE push_installs ADD CONSTRAINT push_installs_bound_generation CHECK (bound_generation <= generation);

            CREATE FUNCTION push_install_bound() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                NEW.bound_generation := NEW.generation;
                RETURN NEW;
            END $$;

            CREATE TRIGGER push_install_bound BEFORE UPDATE OF user_id ON push_installs
                FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION push_install_bound();

            COMMENT ON COLUMN push_installs.bound_generation IS
                'What was addressed in an earlier generation was meant for somebody else.';
            """,
        down: """
            DROP TRIGGER push_install_bound ON push_installs;
            DROP FUNCTION push_install_bound();
            ALTER TABLE push_installs DROP COLUMN bound_generation;
            """
    )
}
