extension Baseline {
    /// Who did what to which account.
    ///
    /// Append-only: triggers refuse UPDATE, DELETE and TRUNCATE; only `audit_log_pseudonymise` replaces the ids of a user whose account is
    /// being erased by the erasure's id. The triggers bind the roles that use the rows, but not the owner of the table, which can drop
    /// triggers. So the roles of the services must not own the table. Rows go to a partition for each month, which is dropped as a whole
    /// after 24 months; `audit_log_maintain` makes the partitions of the next two months. A row of a month without a partition goes to the
    /// default partition, so that no insert fails. Such a month gets no partition later; the default partition is emptied when its newest
    /// row is old.
    ///
    /// `audit_log_maintain` has no parameter and runs as its owner, so that a role that may only insert can call it and cannot shorten the
    /// retention with it. `audit_log_of` runs as its owner, too: the export of an account needs the rows about it, without actors and
    /// addresses, and its service need not have access to the table.
    static let audit = """
        CREATE TABLE audit_log (
            id          bigint      GENERATED ALWAYS AS IDENTITY,
            at          timestamptz NOT NULL DEFAULT now(),
            actor_kind  text        NOT NULL CHECK (actor_kind IN ('user', 'service', 'operator', 'system', 'anonymous')),
            actor_id    text        CHECK (length(actor_id) BETWEEN 1 AND 64),
            action      text        NOT NULL CHECK (action ~ '^[a-z_]{1,48}$'),
            result      text        NOT NULL CHECK (result IN ('succeeded', 'failed', 'refused')),
            subject_id  uuid,
            object_id   uuid,
            request_id  text        CHECK (length(request_id) <= 128),
            detail      text        CHECK (detail ~ '^[a-z0-9_:.-]{1,64}$'),
            address_key bytea       CHECK (octet_length(address_key) = 32),
            PRIMARY KEY (at, id),
            CONSTRAINT audit_log_actor_is_named CHECK ((actor_kind = 'anonymous') = (actor_id IS NULL))
        ) PARTITION BY RANGE (at);
        CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
        CREATE INDEX audit_log_by_subject ON audit_log (subject_id, at) WHERE subject_id IS NOT NULL;
        CREATE INDEX audit_log_by_request ON audit_log (request_id) WHERE request_id IS NOT NULL;
        COMMENT ON TABLE audit_log IS
            'Who did what to which account: ids and fixed words only, never an e-mail, a name, a token or biometric data. Append-only.';
        COMMENT ON TABLE audit_log_default IS 'Rows of months without a partition of their own.';
        COMMENT ON COLUMN audit_log.subject_id IS 'The account; no foreign key, because the row outlives it, and decoy ids have rows too.';
        COMMENT ON COLUMN audit_log.object_id IS 'The session, sign-in, installation or other thing that the action is about.';
        COMMENT ON COLUMN audit_log.detail IS 'A fixed word, such as the reason for a failure.';
        COMMENT ON COLUMN audit_log.address_key IS 'HMAC of the client''s address (IPv6: its /64).';

        CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' AND (NEW.at, NEW.id, NEW.actor_kind, NEW.action, NEW.result, NEW.detail)
                    IS NOT DISTINCT FROM (OLD.at, OLD.id, OLD.actor_kind, OLD.action, OLD.result, OLD.detail) THEN
                PERFORM FROM erasures
                WHERE user_id = OLD.subject_id AND id = NEW.subject_id AND scope = 'account' AND completed_at IS NULL
                  AND num_nonnulls(NEW.object_id, NEW.request_id, NEW.address_key) = 0
                  AND NEW.actor_id IS NOT DISTINCT FROM CASE WHEN OLD.actor_kind = 'user' THEN id::text ELSE OLD.actor_id END;
                IF FOUND THEN RETURN NEW; END IF;
            END IF;
            RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'insufficient_privilege';
        END $$;
        CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_refuse();
        CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse();
        CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log_default FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse();

        CREATE FUNCTION audit_log_maintain() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = public, pg_temp SET lock_timeout = '2s' SET timezone = 'UTC' AS $$
        DECLARE
            oldest  constant timestamptz := now() - interval '24 months';
            month   timestamptz;
            part    text;
            changed integer := 0;
        BEGIN
            IF NOT pg_try_advisory_xact_lock(hashtextextended('audit_log_maintain', 0)) THEN RETURN 0; END IF;
            FOR ahead IN 0..2 LOOP
                month := date_trunc('month', now()) + make_interval(months => ahead);
                part := 'audit_log_' || to_char(month, 'YYYY_MM');
                CONTINUE WHEN to_regclass(part) IS NOT NULL
                    OR EXISTS (SELECT FROM audit_log_default WHERE at >= month AND at < month + interval '1 month');
                -- A row of the month may have come since; none can come between this look and the partition. Inserts lock the table
                -- before its partitions, and so does this.
                LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE;
                CONTINUE WHEN EXISTS (SELECT FROM audit_log_default WHERE at >= month AND at < month + interval '1 month');
                EXECUTE format('CREATE TABLE %I PARTITION OF audit_log FOR VALUES FROM (%L) TO (%L)',
                    part, month, month + interval '1 month');
                EXECUTE format('CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON %I
                    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()', part);
                EXECUTE format('COMMENT ON TABLE %I IS %L', part, 'The rows of a month.');
                changed := changed + 1;
            END LOOP;
            FOR part IN
                SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = 'audit_log'::regclass AND c.relname ~ '^audit_log_[0-9]{4}_[0-9]{2}$'
                  AND to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= oldest
            LOOP
                EXECUTE format('DROP TABLE %I', part);
                changed := changed + 1;
            END LOOP;
            IF EXISTS (SELECT FROM audit_log_default) AND NOT EXISTS (SELECT FROM audit_log_default WHERE at > oldest) THEN
                DROP TABLE audit_log_default;
                CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;
                CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log_default
                    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse();
                COMMENT ON TABLE audit_log_default IS 'Rows of months without a partition of their own.';
                changed := changed + 1;
            END IF;
            RETURN changed;
        END $$;
        SELECT audit_log_maintain();

        CREATE FUNCTION audit_log_of(account uuid)
            RETURNS TABLE (id bigint, at timestamptz, actor_kind text, action text, result text, object_id uuid, request_id text,
                           detail text)
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
            SELECT l.id, l.at, l.actor_kind, l.action, l.result, l.object_id, l.request_id, l.detail
            FROM audit_log l WHERE l.subject_id = account
        $$;
        """
}
