import PostgresClient

extension Migration {
    /// Whether the phone may have a push already that is sent again: FCM has no idempotency key, so that a push whose answer was lost
    /// may arrive twice. The second one replaces the first and makes no sound; one that FCM certainly refused does.
    static let resends = Migration(
        number: 33, name: "resends",
        up: """
            ALTER TABLE deliveries ADD COLUMN may_have_arrived boolean NOT NULL DEFAULT false;
            UPDATE deliveries SET may_have_arrived = true WHERE state IN ('pending', 'sending') AND attempt > 0;

            COMMENT ON COLUMN deliveries.may_have_arrived IS
                'Whether the outcome of an earlier attempt is unknown: its answer was lost, or its sender died.';
            """,
        down: "ALTER TABLE deliveries DROP COLUMN may_have_arrived;"
    )
}
