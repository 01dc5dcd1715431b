extension Baseline {
    /// App installations that can receive pushes, and their history.
    ///
    /// An installation has one row with a `user_id` at most, so that it belongs to one user. Values that uploads delivered are in rows
    /// without a user, one for each value, because anyone can upload. No column that a confirming registration or a successful push
    /// updates is indexed, so that these updates stay heap-only. Triggers keep `bound_generation` and the history, so that no
    /// statement can forget them.
    static let pushInstalls = """
        CREATE TABLE push_installs (
            id               uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
            installation_key bytea       NOT NULL CHECK (octet_length(installation_key) = 32),
            kind             text        NOT NULL CHECK (kind IN ('token', 'fid')),
            value_sealed     bytea       NOT NULL,
            value_hash       bytea       NOT NULL CHECK (octet_length(value_hash) = 32),
            user_id          uuid        REFERENCES users (id) ON DELETE CASCADE,
            generation       bigint      NOT NULL DEFAULT 1 CHECK (generation > 0),
            bound_generation bigint      NOT NULL DEFAULT 1,
            platform         text        CHECK (platform IN ('ios', 'android', 'web')),
            locale           text        CHECK (length(locale) <= 35),
            app_version      text        CHECK (length(app_version) <= 64),
            state            text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'stale', 'suspect', 'invalid')),
            registered_at    timestamptz NOT NULL DEFAULT now(),
            last_seen_at     timestamptz NOT NULL DEFAULT now(),
            suspect_until    timestamptz,
            invalid_at       timestamptz,
            invalid_code     text,
            CONSTRAINT push_installs_bound_generation CHECK (bound_generation <= generation),
            CONSTRAINT push_installs_suspect_has_time CHECK ((state = 'suspect') = (suspect_until IS NOT NULL)),
            CONSTRAINT push_installs_invalid_has_time CHECK ((state = 'invalid') = (invalid_at IS NOT NULL))
        ) WITH (fillfactor = 85);
        CREATE UNIQUE INDEX push_installs_bound ON push_installs (installation_key) WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX push_installs_unbound ON push_installs (value_hash) WHERE user_id IS NULL;
        CREATE INDEX push_installs_by_user ON push_installs (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX push_installs_suspect ON push_installs (id) WHERE state = 'suspect';
        CREATE INDEX push_installs_invalid_by_time ON push_installs (invalid_at) WHERE state = 'invalid';
        COMMENT ON TABLE push_installs IS 'App installations; a row with a user stays when the installation gets a new token.';
        COMMENT ON COLUMN push_installs.installation_key IS
            'SHA-256 of the installation id (the token up to its colon); the same for all tokens of an installation.';
        COMMENT ON COLUMN push_installs.value_hash IS 'SHA-256 of the whole token or FID, by which a change is detected.';
        COMMENT ON COLUMN push_installs.generation IS
            'Grows when the token or the user changes, so that a late response of FCM is not held against the new token.';
        COMMENT ON COLUMN push_installs.bound_generation IS
            'The generation of the last change of user; a push of an earlier generation was meant for another user.';
        COMMENT ON COLUMN push_installs.suspect_until IS 'Nothing is sent before; the next push afterwards decides whether it is dead.';

        CREATE TABLE push_install_audit (
            id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            install_id  uuid        NOT NULL,
            event       text        NOT NULL CHECK (event IN ('registered', 'bound', 'rotated', 'state', 'removed')),
            old_user_id uuid,
            new_user_id uuid,
            state       text        NOT NULL,
            code        text,
            at          timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX push_install_audit_by_install ON push_install_audit (install_id);
        CREATE INDEX push_install_audit_by_old_user ON push_install_audit (old_user_id) WHERE old_user_id IS NOT NULL;
        CREATE INDEX push_install_audit_by_new_user ON push_install_audit (new_user_id) WHERE new_user_id IS NOT NULL;
        COMMENT ON TABLE push_install_audit IS 'The history of installations; ids and states only, never a token.';

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

        CREATE FUNCTION push_install_bound() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.bound_generation := NEW.generation;
            RETURN NEW;
        END $$;
        CREATE TRIGGER push_install_bound BEFORE UPDATE OF user_id ON push_installs
            FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION push_install_bound();
        """

    /// Claims of installations that wait for the claimant's proof.
    static let installHandOvers = """
        CREATE TABLE install_hand_overs (
            id               uuid        PRIMARY KEY,
            installation_key bytea       NOT NULL CHECK (octet_length(installation_key) = 32),
            install_id       uuid        REFERENCES push_installs (id) ON DELETE SET NULL,
            user_id          uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            former_user_id   uuid        REFERENCES users (id) ON DELETE CASCADE,
            sign_in_id       uuid,
            nonce_hash       bytea       NOT NULL CHECK (octet_length(nonce_hash) = 32),
            is_held_value    boolean     NOT NULL,
            platform         text        CHECK (platform IN ('ios', 'android', 'web')),
            locale           text        CHECK (length(locale) <= 35),
            app_version      text        CHECK (length(app_version) <= 64),
            state            text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'completed', 'replaced')),
            created_at       timestamptz NOT NULL DEFAULT now(),
            expires_at       timestamptz NOT NULL
        );
        CREATE UNIQUE INDEX install_hand_overs_pending ON install_hand_overs (installation_key, user_id) WHERE state = 'pending';
        CREATE INDEX install_hand_overs_by_user ON install_hand_overs (user_id, created_at);
        CREATE INDEX install_hand_overs_by_former_user ON install_hand_overs (former_user_id) WHERE former_user_id IS NOT NULL;
        CREATE INDEX install_hand_overs_by_install ON install_hand_overs (install_id) WHERE install_id IS NOT NULL;
        CREATE INDEX install_hand_overs_by_creation ON install_hand_overs (created_at);
        COMMENT ON TABLE install_hand_overs IS
            'Claims of an installation by a user who has yet to return the nonce that was pushed to the claimed value.';
        COMMENT ON COLUMN install_hand_overs.install_id IS
            'While it is pending, the row without a user that has the claimed value; then the installation of the user.';
        COMMENT ON COLUMN install_hand_overs.former_user_id IS 'The user who had the installation when it was claimed.';
        COMMENT ON COLUMN install_hand_overs.sign_in_id IS
            'access_tokens.family_id of the claimant; null for an identity of another system.';
        COMMENT ON COLUMN install_hand_overs.nonce_hash IS 'SHA-256 of the pushed nonce.';
        COMMENT ON COLUMN install_hand_overs.is_held_value IS 'Whether the former user has the installation with the claimed value.';
        """

    /// Tells an outage of FCM from dead tokens.
    static let pushHealth = """
        CREATE TABLE push_outcomes (
            minute timestamptz NOT NULL,
            shard  smallint    NOT NULL,
            sent   bigint      NOT NULL,
            dead   bigint      NOT NULL,
            PRIMARY KEY (minute, shard)
        ) WITH (fillfactor = 50);
        COMMENT ON TABLE push_outcomes IS 'Responses of FCM per minute; several rows a minute, so that senders do not wait for one lock.';

        CREATE TABLE push_guard (
            is_only       boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
            tripped_at    timestamptz,
            tripped_until timestamptz
        );
        INSERT INTO push_guard DEFAULT VALUES;
        COMMENT ON TABLE push_guard IS 'Whether FCM reports so many dead tokens at once that they are not believed; one row.';
        """
}
