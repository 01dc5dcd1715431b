import PostgresClient

extension Migration {
    /// The ledger of pushes: one row per notification and installation.
    ///
    /// `install_id` has no foreign key, because the ledger outlives an installation that logs out.
    static let deliveries = Migration(
        number: 7, name: "deliveries",
        up: """
            CREATE TABLE deliveries (
                id              uuid        PRIMARY KEY,
                notification_id uuid        NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
                install_id      uuid        NOT NULL,
                generation      bigint      NOT NULL,
                state           text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending',
                                    'accepted', 'dead', 'failed', 'expired', 'skipped')),
                attempt         integer     NOT NULL DEFAULT 0 CHECK (attempt >= 0),
                next_at         timestamptz NOT NULL DEFAULT now(),
                lease_until     timestamptz,
                fcm_name        text,
                code            text,
                created_at      timestamptz NOT NULL DEFAULT now(),
                settled_at      timestamptz,
                UNIQUE (notification_id, install_id),
                CONSTRAINT deliveries_sending_has_lease CHECK ((state = 'sending') = (lease_until IS NOT NULL)),
                CONSTRAINT deliveries_terminal_has_time
                    CHECK ((state IN ('pending', 'sending')) = (settled_at IS NULL))
            );

            CREATE INDEX deliveries_open_by_time ON deliveries (next_at) WHERE state IN ('pending', 'sending');
            CREATE INDEX deliveries_open_by_install ON deliveries (install_id) WHERE state IN ('pending', 'sending');

            COMMENT ON TABLE deliveries IS
                'One push to one installation; accepted, dead, failed, expired, skipped are final.';
            COMMENT ON COLUMN deliveries.generation IS 'push_installs.generation this push was meant for.';
            COMMENT ON COLUMN deliveries.lease_until IS 'A sender that has not settled by then is taken for dead.';
            COMMENT ON COLUMN deliveries.fcm_name IS 'Message name FCM answered with; opaque.';
            """,
        down: "DROP TABLE deliveries;"
    )
}
