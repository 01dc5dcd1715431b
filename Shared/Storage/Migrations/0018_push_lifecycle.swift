import PostgresClient

extension Migration {
    /// The life of installations: the states between alive and dead, a history without values, what tells an outage of FCM
    /// from dead tokens, and how far the daily walk has come. Fan-outs go by the topic's id from here on.
    ///
    /// None of the columns that a registration or a successful push renews is in an index, so that these stay heap-only
    /// updates. The history is written by a trigger, so that no way of changing an installation can forget it.
    static let pushLifecycle = Migration(
        number: 18, name: "push_lifecycle",
        up: """
            DELETE FROM push_installs p USING push_installs newer
                WHERE newer.value_hash = p.value_hash AND (newer.registered_at, newer.id) > (p.registered_at, p.id);
            ALTER TABLE push_installs
                DROP CONSTRAINT push_installs_state_check,
                ADD CONSTRAINT push_installs_state_check CHECK (state IN ('active', 'stale', 'suspect', 'invalid')),
                ADD COLUMN last_ok_at    timestamptz,
                ADD COLUMN suspect_until timestamptz,
                ADD CONSTRAINT push_installs_suspect_has_time CHECK ((state = 'suspect') = (suspect_until IS NOT NULL)),
                ADD CONSTRAINT push_installs_value_hash_key UNIQUE (value_hash);
            DROP INDEX push_installs_active_by_user;
            CREATE INDEX push_installs_by_user ON push_installs (user_id) WHERE user_id IS NOT NULL;
            CREATE INDEX push_installs_invalid_by_time ON push_installs (invalid_at) WHERE state = 'invalid';

            CREATE TABLE push_install_audit (
                id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                install_id  uuid        NOT NULL,
                event       text        NOT NULL
                            CHECK (event IN ('registered', 'bound', 'rotated', 'state', 'removed')),
                old_user_id uuid,
                new_user_id uuid,
                state       text        NOT NULL,
                code        text,
                at          timestamptz NOT NULL DEFAULT now()
            );
            CREATE INDEX push_install_audit_by_install ON push_install_audit (install_id);
            CREATE INDEX push_install_audit_by_old_user ON push_install_audit (old_user_id) WHERE old_user_id IS NOT NULL;
            CREATE INDEX push_install_audit_by_new_user ON push_install_audit (new_user_id) WHERE new_user_id IS NOT NULL;

            CREATE FUNCTION push_install_audit() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO push_install_audit (install_id, event, old_user_id, new_user_id, state, code)
                VALUES (coalesce(NEW.id, OLD.id),
                        CASE WHEN TG_OP = 'INSERT' THEN 'registered' WHEN TG_OP = 'DELETE' THEN 'removed'
                             WHEN OLD.user_id IS DISTINCT FROM NEW.user_id THEN 'bound'
                             WHEN OLD.value_hash <> NEW.value_hash THEN 'rotated' ELSE 'state' END,
                        OLD.user_id, NEW.user_id, coalesce(NEW.state, OLD.state), coalesce(NEW.invalid_code, OLD.invalid_code));
                RETURN NULL;
            END $$;
            CREATE TRIGGER push_install_made_or_removed AFTER INSERT OR DELETE ON push_installs
                FOR EACH ROW EXECUTE FUNCTION push_install_audit();
            CREATE TRIGGER push_install_changed AFTER UPDATE ON push_installs FOR EACH ROW
                WHEN (OLD.user_id IS DISTINCT FROM NEW.user_id OR OLD.value_hash <> NEW.value_hash OR OLD.state <> NEW.state)
                EXECUTE FUNCTION push_install_audit();

            CREATE TABLE push_outcomes (
                minute timestamptz NOT NULL,
                shard  smallint    NOT NULL,
                sent   bigint      NOT NULL,
                dead   bigint      NOT NULL,
                PRIMARY KEY (minute, shard)
            ) WITH (fillfactor = 50);

            CREATE TABLE push_guard (
                is_only       boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
                tripped_at    timestamptz,
                tripped_until timestamptz
            );
            INSERT INTO push_guard DEFAULT VALUES;

            CREATE TABLE push_walk (
                is_only    boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
                after_id   uuid,
                started_at timestamptz NOT NULL DEFAULT '-infinity'
            );
            INSERT INTO push_walk DEFAULT VALUES;

            ALTER TABLE notifications
                DROP CONSTRAINT notifications_recipient_type_check,
                ADD CONSTRAINT notifications_recipient_type_check
                    CHECK (recipient_type IN ('session', 'user', 'topic', 'installation'));
            CREATE INDEX notifications_open_by_recipient ON notifications (recipient_id)
                WHERE state IN ('requested', 'addressed');
            CREATE INDEX deliveries_open_by_notification ON deliveries (notification_id) WHERE state IN ('pending', 'sending');
            CREATE INDEX topic_members_by_standing ON topic_members (topic_id, joined_at, user_id);

            ALTER TABLE topic_fan_outs ADD COLUMN topic_id uuid;
            UPDATE topic_fan_outs f SET topic_id = coalesce((SELECT id FROM topics t WHERE t.name = f.topic), gen_random_uuid());
            ALTER TABLE topic_fan_outs ALTER COLUMN topic_id SET NOT NULL, DROP COLUMN topic;

            COMMENT ON COLUMN push_installs.last_ok_at IS 'When FCM last took a push for it, to the day.';
            COMMENT ON COLUMN push_installs.suspect_until IS
                'Nothing is sent before; the next push after it decides whether it is dead.';
            COMMENT ON TABLE push_install_audit IS 'What became of installations; ids and states only, never a value.';
            COMMENT ON TABLE push_outcomes IS 'Answers of FCM a minute; spread over shards, so that nobody waits for a row.';
            COMMENT ON TABLE push_guard IS 'Whether so many tokens die at once that FCM is not believed; one row.';
            COMMENT ON TABLE push_walk IS 'How far the daily walk over the installations has come; one row.';
            COMMENT ON COLUMN topic_fan_outs.topic_id IS 'Fixed when the fan-out begins: the name taken again is another topic.';
            """,
        down: """
            ALTER TABLE topic_fan_outs ADD COLUMN topic text;
            UPDATE topic_fan_outs f SET topic = coalesce((SELECT name FROM topics t WHERE t.id = f.topic_id), '');
            ALTER TABLE topic_fan_outs ALTER COLUMN topic SET NOT NULL, DROP COLUMN topic_id;
            DROP INDEX topic_members_by_standing;
            DROP INDEX deliveries_open_by_notification;
            DROP INDEX notifications_open_by_recipient;
            DELETE FROM notifications WHERE recipient_type = 'installation';
            ALTER TABLE notifications
                DROP CONSTRAINT notifications_recipient_type_check,
                ADD CONSTRAINT notifications_recipient_type_check CHECK (recipient_type IN ('session', 'user', 'topic'));
            DROP TABLE push_walk, push_guard, push_outcomes;
            DROP TRIGGER push_install_changed ON push_installs;
            DROP TRIGGER push_install_made_or_removed ON push_installs;
            DROP FUNCTION push_install_audit();
            DROP TABLE push_install_audit;
            DROP INDEX push_installs_invalid_by_time;
            DROP INDEX push_installs_by_user;
            CREATE INDEX push_installs_active_by_user ON push_installs (user_id) WHERE state = 'active' AND user_id IS NOT NULL;
            -- The step before this one knows only the living and the dead.
            UPDATE push_installs SET state = 'active', suspect_until = NULL WHERE state IN ('stale', 'suspect');
            ALTER TABLE push_installs
                DROP CONSTRAINT push_installs_value_hash_key,
                DROP CONSTRAINT push_installs_suspect_has_time,
                DROP COLUMN suspect_until,
                DROP COLUMN last_ok_at,
                DROP CONSTRAINT push_installs_state_check,
                ADD CONSTRAINT push_installs_state_check CHECK (state IN ('active', 'invalid'));
            """
    )
}
