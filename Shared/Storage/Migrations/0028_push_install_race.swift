import PostgresClient

extension Migration {
    /// Lets two first registrations of one installation meet without an error.
    ///
    /// Both insert, and the later one is to find the earlier by the installation's key and update it. But an insert that loses
    /// goes through all other unique indexes first, where the same token is another's: the server reports that, though the row is
    /// taken back at once. A constraint that is checked at the end of the statement finds the row gone.
    static let pushInstallRace = Migration(
        number: 28, name: "push_install_race",
        up: """
            ALTER TABLE push_installs
                DROP CONSTRAINT push_installs_value_hash_key,
                ADD CONSTRAINT push_installs_value_hash_key UNIQUE (value_hash) DEFERRABLE INITIALLY IMMEDIATE;
            """,
        down: """
            ALTER TABLE push_installs
                DROP CONSTRAINT push_installs_value_hash_key,
                ADD CONSTRAINT push_installs_value_hash_key UNIQUE (value_hash);
            """
    )
}
