import PostgresClient

extension Migration {
    /// How much each installation that is sent many pushes may still be sent; the senders share it.
    ///
    /// Only bursts have a row here, so there are few. It is not logged: after a crash of the database each begins with full
    /// buckets, which FCM forgives.
    static let pushInstallRates = Migration(
        number: 25, name: "push_install_rates",
        up: """
            CREATE UNLOGGED TABLE push_install_rates (
                install_id    uuid        PRIMARY KEY,
                minute_tokens float8      NOT NULL CHECK (minute_tokens >= 0),
                hour_tokens   float8      NOT NULL CHECK (hour_tokens >= 0),
                filled_at     timestamptz NOT NULL DEFAULT clock_timestamp()
            ) WITH (fillfactor = 50);

            COMMENT ON TABLE push_install_rates IS 'How many pushes an installation may be sent now, for those that get many.';
            COMMENT ON COLUMN push_install_rates.filled_at IS 'When both buckets were last filled up.';
            """,
        down: "DROP TABLE push_install_rates;"
    )
}
