import PostgresClient

extension Migration {
    /// How large photos of topics are, and whose: what an account may add in a day is counted from them.
    static let photoQuotas = Migration(
        number: 19, name: "photo_quotas",
        up: """
            ALTER TABLE topic_photos ADD COLUMN byte_count bigint NOT NULL DEFAULT 0 CHECK (byte_count >= 0);
            CREATE INDEX topic_photos_by_uploader ON topic_photos (uploader_id, created_at) INCLUDE (byte_count);

            COMMENT ON COLUMN topic_photos.byte_count IS 'Bytes of the photo as it was uploaded; 0 for those of before it was noted.';
            """,
        down: """
            DROP INDEX topic_photos_by_uploader;
            ALTER TABLE topic_photos DROP COLUMN byte_count;
            """
    )
}
