import PostgresClient

extension Migration {
    /// A lease for each batch of deliveries that is on its way for the first time, in place of a mark on each of its rows: a
    /// push that goes well changes its row once, when it has ended.
    ///
    /// The ledger's rows have no foreign key any more: its check cost a fan-out a lookup and a lock on the one row of its
    /// notification for each of a hundred thousand deliveries, which are made by joining that row anyway. Notifications are
    /// deleted when none of their deliveries is left.
    static let pushLeases = Migration(
        number: 22, name: "push_leases",
        up: """
            CREATE TABLE push_leases (
                id           uuid        PRIMARY KEY,
                lane         text        NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
                lease_until  timestamptz NOT NULL,
                delivery_ids uuid[]      NOT NULL CHECK (cardinality(delivery_ids) > 0)
            );
            CREATE INDEX push_leases_by_end ON push_leases (lane, lease_until);
            ALTER TABLE deliveries DROP CONSTRAINT deliveries_notification_id_fkey;

            COMMENT ON TABLE push_leases IS
                'Deliveries that a sender has for the first time; a row that has ended belongs to a sender that died.';
            COMMENT ON COLUMN push_leases.id IS 'The message that handed them to a sender.';
            """,
        down: """
            DELETE FROM deliveries d WHERE NOT EXISTS (SELECT FROM notifications n WHERE n.id = d.notification_id);
            ALTER TABLE deliveries ADD CONSTRAINT deliveries_notification_id_fkey
                FOREIGN KEY (notification_id) REFERENCES notifications (id) ON DELETE CASCADE;
            UPDATE deliveries SET code = 'sender_lost'
                WHERE state = 'pending' AND code IS NULL AND id IN (SELECT unnest(delivery_ids) FROM push_leases);
            DROP TABLE push_leases;
            """
    )
}
