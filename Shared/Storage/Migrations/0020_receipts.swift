import PostgresClient

extension Migration {
    /// What devices tell of pushes, and what made them fetch the outcome of an image job.
    ///
    /// `image_job_reads` has no foreign key: the figures outlive the jobs, which are gone after a day.
    static let receipts = Migration(
        number: 20, name: "receipts",
        up: """
            ALTER TABLE notifications ADD COLUMN has_picture boolean NOT NULL DEFAULT false;
            UPDATE notifications SET has_picture = true WHERE parameters ? 'image';
            CREATE INDEX notifications_of_topics ON notifications (recipient_id, created_at) WHERE recipient_type = 'topic';

            CREATE TABLE notification_receipts (
                notification_id uuid        NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
                reporter_id     uuid        NOT NULL,
                event           text        NOT NULL CHECK (event IN ('delivered', 'opened', 'dismissed', 'suppressed')),
                user_id         uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                at              timestamptz NOT NULL,
                PRIMARY KEY (notification_id, reporter_id, event)
            );

            CREATE INDEX notification_receipts_by_user ON notification_receipts (user_id);

            CREATE TABLE image_job_reads (
                job_id     uuid        NOT NULL,
                trigger    text        NOT NULL CHECK (trigger IN ('push', 'poll', 'launch')),
                at         timestamptz NOT NULL DEFAULT clock_timestamp(),
                PRIMARY KEY (job_id, trigger)
            );

            CREATE INDEX image_job_reads_by_time ON image_job_reads (at);

            COMMENT ON COLUMN notifications.has_picture IS 'Whether its push was to have a picture; outlives the parameters.';
            COMMENT ON TABLE notification_receipts IS 'What became of pushes on devices, as they say; each thing once a device.';
            COMMENT ON COLUMN notification_receipts.reporter_id IS
                'The installation that it was sent to, or the user when the device is not known.';
            COMMENT ON TABLE image_job_reads IS 'What made a client fetch the outcome of an image job; each reason once a job.';
            """,
        down: """
            DROP TABLE image_job_reads;
            DROP TABLE notification_receipts;
            DROP INDEX notifications_of_topics;
            ALTER TABLE notifications DROP COLUMN has_picture;
            """
    )
}
