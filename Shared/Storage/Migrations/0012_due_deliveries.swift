import PostgresClient

extension Migration {
    /// An index of the deliveries that wait for whoever finds them due, in place of one of all that are open: those
    /// that were never tried are many in a burst, and none of them is looked for by time.
    static let dueDeliveries = Migration(
        number: 12, name: "due_deliveries",
        up: """
            CREATE INDEX deliveries_due_by_time ON deliveries (next_at)
                WHERE state = 'sending' OR (state = 'pending' AND code IS NOT NULL);
            DROP INDEX deliveries_open_by_time;
            """,
        down: """
            CREATE INDEX deliveries_open_by_time ON deliveries (next_at) WHERE state IN ('pending', 'sending');
            DROP INDEX deliveries_due_by_time;
            """
    )
}
