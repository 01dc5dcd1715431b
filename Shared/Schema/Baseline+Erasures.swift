extension Baseline {
    /// Erasures of accounts and of faces, what each service has erased for them, and what remains for ever: hashes without a person.
    ///
    /// An erasure that is completed names no user. `subject_hash` is SHA-256 of an account's id, which has 122 random bits: a person who
    /// knows an id can check whether it was erased; others learn nothing from the hash.
    static let erasures = """
        CREATE TABLE erasures (
            id           uuid        PRIMARY KEY,
            scope        text        NOT NULL CHECK (scope IN ('account', 'face')),
            user_id      uuid,
            attempt_keys uuid[]      NOT NULL DEFAULT '{}',
            subject_hash bytea       NOT NULL CHECK (octet_length(subject_hash) = 32),
            token_hash   bytea       NOT NULL CHECK (octet_length(token_hash) = 32),
            requested_by text        NOT NULL CHECK (requested_by IN ('user', 'service', 'operator')),
            requested_at timestamptz NOT NULL DEFAULT now(),
            published_at timestamptz NOT NULL DEFAULT now(),
            completed_at timestamptz,
            receipt      text,
            CONSTRAINT erasures_completed_names_no_user CHECK (
                (completed_at IS NULL) = (user_id IS NOT NULL) AND (completed_at IS NULL OR attempt_keys = '{}')),
            CONSTRAINT erasures_completed_has_receipt CHECK ((completed_at IS NULL) = (receipt IS NULL))
        );
        CREATE UNIQUE INDEX erasures_open ON erasures (user_id, scope) WHERE user_id IS NOT NULL;
        CREATE INDEX erasures_not_completed ON erasures (requested_at) WHERE completed_at IS NULL;
        CREATE INDEX erasures_by_subject ON erasures (subject_hash) WHERE scope = 'account';
        COMMENT ON TABLE erasures IS 'Requests to erase an account or its face, and their receipts. Rows are kept.';
        COMMENT ON COLUMN erasures.user_id IS 'The account, until the erasure is completed.';
        COMMENT ON COLUMN erasures.attempt_keys IS
            'As sessions.attempt_key, of each lookup of the e-mail that the account had; until the erasure is completed.';
        COMMENT ON COLUMN erasures.token_hash IS 'SHA-256 of the token that reads the receipt.';
        COMMENT ON COLUMN erasures.published_at IS 'When user.erased was published last.';
        COMMENT ON COLUMN erasures.receipt IS 'A signed JWS: what was erased, in numbers.';

        CREATE TABLE erasure_reports (
            erasure_id  uuid        NOT NULL REFERENCES erasures (id) ON DELETE CASCADE,
            service     text        NOT NULL CHECK (length(service) BETWEEN 1 AND 32),
            counts      jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
            finished_at timestamptz,
            PRIMARY KEY (erasure_id, service)
        );
        COMMENT ON TABLE erasure_reports IS 'What each service has erased: numbers of rows by table, and of objects by folder.';
        COMMENT ON COLUMN erasure_reports.finished_at IS 'When the service had nothing of the user left.';

        CREATE TABLE erased_identities (
            issuer         text        NOT NULL,
            subject_lookup bytea       NOT NULL CHECK (octet_length(subject_lookup) = 33 + get_byte(subject_lookup, 0)),
            erased_at      timestamptz NOT NULL,
            PRIMARY KEY (issuer, subject_lookup)
        );
        CREATE INDEX erased_identities_by_age ON erased_identities (erased_at);
        COMMENT ON TABLE erased_identities IS
            'Persons of identity providers whose account was erased: tokens of earlier sign-ins make no new one for 180 days.';

        CREATE FUNCTION audit_log_pseudonymise(erasure uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = public, pg_temp AS $$
        DECLARE
            person  uuid;
            changed bigint;
        BEGIN
            -- Only with the account itself: its row is locked, and has to be one that cannot become active again.
            SELECT e.user_id INTO person FROM erasures e JOIN users u ON u.id = e.user_id
            WHERE e.id = erasure AND scope = 'account' AND completed_at IS NULL AND u.state = 'erasing' FOR UPDATE OF u;
            UPDATE audit_log SET subject_id = erasure, object_id = NULL, request_id = NULL, address_key = NULL,
                actor_id = CASE WHEN actor_kind = 'user' THEN erasure::text ELSE actor_id END
            WHERE subject_id = person;
            GET DIAGNOSTICS changed = ROW_COUNT;
            RETURN changed;
        END $$;
        """
}
