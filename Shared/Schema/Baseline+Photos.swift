extension Baseline {
    /// Photos of events and the windows that gather them for a push.
    ///
    /// A photo outlives its topic until its files are deleted. A daily quota per account is computed from `byte_count`.
    static let topicPhotos = """
        CREATE TABLE topic_photos (
            id            uuid        PRIMARY KEY,
            topic_id      uuid        REFERENCES topics (id) ON DELETE SET NULL,
            uploader_id   uuid        NOT NULL,
            state         text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'ready', 'failed')),
            photo_key     text        NOT NULL,
            thumbnail_key text,
            seq           bigint      CHECK (seq > 0),
            byte_count    bigint      NOT NULL DEFAULT 0 CHECK (byte_count >= 0),
            created_at    timestamptz NOT NULL DEFAULT now(),
            settled_at    timestamptz,
            expires_at    timestamptz NOT NULL,
            CONSTRAINT topic_photos_settled_has_time CHECK ((state = 'pending') = (settled_at IS NULL)),
            CONSTRAINT topic_photos_ready_has_thumbnail CHECK ((state = 'ready') = (thumbnail_key IS NOT NULL))
        );
        CREATE INDEX topic_photos_by_topic ON topic_photos (topic_id, created_at, id);
        CREATE INDEX topic_photos_by_uploader ON topic_photos (uploader_id, created_at) INCLUDE (byte_count);
        CREATE INDEX topic_photos_by_expiry ON topic_photos (expires_at);
        CREATE INDEX topic_photos_orphaned ON topic_photos (id) WHERE topic_id IS NULL;
        COMMENT ON TABLE topic_photos IS 'Photos of events; their files are in the blob store until expires_at at the latest.';
        COMMENT ON COLUMN topic_photos.topic_id IS 'NULL when the topic was deleted: the photo is hidden and deleted next.';
        COMMENT ON COLUMN topic_photos.seq IS
            'topics.item_seq when the photo became ready; by it, photos of blocked users are not unread.';
        COMMENT ON COLUMN topic_photos.byte_count IS 'Bytes of the photo as it was uploaded.';

        CREATE TABLE topic_photo_windows (
            topic_id      uuid        PRIMARY KEY REFERENCES topics (id) ON DELETE CASCADE,
            id            uuid        NOT NULL UNIQUE DEFAULT gen_random_uuid(),
            uploader_id   uuid,
            sender_id     uuid        NOT NULL,
            thumbnail_key text        NOT NULL,
            photo_count   integer     NOT NULL DEFAULT 1 CHECK (photo_count > 0),
            request_id    text,
            traceparent   text,
            opened_at     timestamptz NOT NULL DEFAULT now(),
            due_at        timestamptz NOT NULL
        );
        CREATE INDEX topic_photo_windows_by_time ON topic_photo_windows (due_at);
        COMMENT ON TABLE topic_photo_windows IS 'The photos of a topic that the next push announces; closed at due_at.';
        COMMENT ON COLUMN topic_photo_windows.uploader_id IS 'The uploader of all its photos; NULL when there are several.';
        COMMENT ON COLUMN topic_photo_windows.sender_id IS 'The uploader of the newest photo, which the push shows.';
        COMMENT ON COLUMN topic_photo_windows.thumbnail_key IS 'The picture of the push: the newest photo.';
        """

    /// Fan-outs of notifications to topics that are in progress.
    static let fanOuts = """
        CREATE TABLE topic_fan_outs (
            notification_id uuid        PRIMARY KEY REFERENCES notifications (id) ON DELETE CASCADE,
            topic_id        uuid,
            except_user_id  uuid,
            sender_id       uuid,
            after_user_id   uuid,
            delivery_count  integer     NOT NULL DEFAULT 0 CHECK (delivery_count >= 0),
            turn_at         timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX topic_fan_outs_by_turn ON topic_fan_outs (turn_at);
        COMMENT ON TABLE topic_fan_outs IS 'Notifications to topics whose deliveries are being created, part by part.';
        COMMENT ON COLUMN topic_fan_outs.topic_id IS
            'The topic when the fan-out began; a later topic of the same name is another. NULL: the recipients of app_notifications.';
        COMMENT ON COLUMN topic_fan_outs.sender_id IS 'The user of whom it shows something: a member who blocks them gets no push.';
        COMMENT ON COLUMN topic_fan_outs.after_user_id IS 'The last member whose deliveries were created.';
        COMMENT ON COLUMN topic_fan_outs.turn_at IS 'The fan-out that has waited longest makes the next part.';
        """
}
