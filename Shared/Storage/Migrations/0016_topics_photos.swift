import PostgresClient

extension Migration {
    /// Topics and their members, the photos of events, the pushes about photos that are still gathering, and the fan-outs of
    /// notifications for topics that are under way.
    ///
    /// A member has no foreign key to `users`: whether an id is somebody's must not show, because the push of a refused
    /// sign-in names an id for unknown e-mails too. A photo outlives its topic until its files are deleted.
    static let topicsPhotos = Migration(
        number: 16, name: "topics_photos",
        up: """
            CREATE TABLE topics (
                id           uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
                name         text        NOT NULL UNIQUE CHECK (name ~ '^(event|conversation):[A-Za-z0-9_-]{1,64}$'),
                owner_id     uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                member_count integer     NOT NULL DEFAULT 1 CHECK (member_count >= 0),
                created_at   timestamptz NOT NULL DEFAULT now()
            );

            CREATE INDEX topics_by_owner ON topics (owner_id);

            CREATE TABLE topic_members (
                topic_id  uuid        NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
                user_id   uuid        NOT NULL,
                joined_at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (topic_id, user_id)
            );

            CREATE TABLE topic_photos (
                id            uuid        PRIMARY KEY,
                topic_id      uuid        REFERENCES topics (id) ON DELETE SET NULL,
                uploader_id   uuid        NOT NULL,
                state         text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'ready', 'failed')),
                photo_key     text        NOT NULL,
                thumbnail_key text,
                created_at    timestamptz NOT NULL DEFAULT now(),
                settled_at    timestamptz,
                expires_at    timestamptz NOT NULL,
                CONSTRAINT topic_photos_settled_has_time CHECK ((state = 'pending') = (settled_at IS NULL)),
                CONSTRAINT topic_photos_ready_has_thumbnail CHECK ((state = 'ready') = (thumbnail_key IS NOT NULL))
            );

            CREATE INDEX topic_photos_by_topic ON topic_photos (topic_id, created_at);
            CREATE INDEX topic_photos_by_expiry ON topic_photos (expires_at);
            CREATE INDEX topic_photos_orphaned ON topic_photos (id) WHERE topic_id IS NULL;

            CREATE TABLE topic_photo_windows (
                topic_id      uuid        PRIMARY KEY REFERENCES topics (id) ON DELETE CASCADE,
                id            uuid        NOT NULL UNIQUE DEFAULT gen_random_uuid(),
                uploader_id   uuid,
                thumbnail_key text        NOT NULL,
                photo_count   integer     NOT NULL DEFAULT 1 CHECK (photo_count > 0),
                request_id    text,
                traceparent   text,
                opened_at     timestamptz NOT NULL DEFAULT now(),
                due_at        timestamptz NOT NULL
            );

            CREATE INDEX topic_photo_windows_by_time ON topic_photo_windows (due_at);

            CREATE TABLE topic_fan_outs (
                notification_id uuid        PRIMARY KEY REFERENCES notifications (id) ON DELETE CASCADE,
                topic           text        NOT NULL,
                except_user_id  uuid,
                after_user_id   uuid,
                delivery_count  integer     NOT NULL DEFAULT 0 CHECK (delivery_count >= 0),
                request_id      text,
                traceparent     text,
                turn_at         timestamptz NOT NULL DEFAULT now()
            );

            CREATE INDEX topic_fan_outs_by_turn ON topic_fan_outs (turn_at);

            COMMENT ON TABLE topics IS 'People who are told the same things; gone when the last member leaves.';
            COMMENT ON COLUMN topics.owner_id IS 'Who may change the members: its maker, then whoever has been in it longest.';
            COMMENT ON COLUMN topics.member_count IS 'The rows of topic_members, kept by whoever holds the lock on this row.';
            COMMENT ON TABLE topic_members IS 'Who is in a topic.';
            COMMENT ON TABLE topic_photos IS 'Photos of events; their files are in the blob store, at most until expires_at.';
            COMMENT ON COLUMN topic_photos.topic_id IS 'NULL when the topic is gone: nobody sees the photo, and it goes next.';
            COMMENT ON TABLE topic_photo_windows IS 'The photos of a topic that the next push tells of; closed at due_at.';
            COMMENT ON COLUMN topic_photo_windows.uploader_id IS 'Who added all of its photos; NULL when it was more than one.';
            COMMENT ON COLUMN topic_photo_windows.thumbnail_key IS 'The picture of the push: the newest photo.';
            COMMENT ON TABLE topic_fan_outs IS 'Notifications for a topic whose deliveries are being made, page by page.';
            COMMENT ON COLUMN topic_fan_outs.after_user_id IS 'The last member who was looked at.';
            COMMENT ON COLUMN topic_fan_outs.turn_at IS 'The one that has waited longest gets the next page.';
            """,
        down: """
            DROP TABLE topic_fan_outs;
            DROP TABLE topic_photo_windows;
            DROP TABLE topic_photos;
            DROP TABLE topic_members;
            DROP TABLE topics;
            """
    )
}
