extension Baseline {
    /// Proofs of e-mail addresses, and enrolled faces that wait for one or for the end of a recovery.
    ///
    /// Neither a code nor a token of a verification is stored: a code is an HMAC of the row, and the token is found by its hash.
    static let verifications = """
        CREATE TABLE email_verifications (
            id                   uuid        PRIMARY KEY,
            purpose              text        NOT NULL CHECK (purpose IN ('registration', 'enrolment', 'email_change')),
            account_id           uuid        NOT NULL,
            sign_in_id           uuid,
            email_lookups        bytea[]     NOT NULL CHECK (cardinality(email_lookups) > 0),
            email_sealed         bytea       NOT NULL,
            display_name_sealed  bytea,
            former_email_lookups bytea[],
            former_email_sealed  bytea,
            address_key          bytea       CHECK (octet_length(address_key) = 32),
            code_number          integer     NOT NULL DEFAULT 1 CHECK (code_number > 0),
            attempts_left        integer     NOT NULL CHECK (attempts_left >= 0),
            code_expires_at      timestamptz NOT NULL,
            mailed_at            timestamptz,
            verified_at          timestamptz,
            token_hash           bytea       UNIQUE CHECK (octet_length(token_hash) = 32),
            created_at           timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT email_verifications_token_is_verified CHECK (token_hash IS NULL OR verified_at IS NOT NULL),
            CONSTRAINT email_verifications_former_email_is_whole
                CHECK ((former_email_lookups IS NULL) = (former_email_sealed IS NULL))
        );
        -- Without a list of pending entries, which each search would read to its end: it may have 4 MB.
        CREATE INDEX email_verifications_by_email ON email_verifications USING gin (email_lookups) WITH (fastupdate = off);
        CREATE INDEX email_verifications_by_age ON email_verifications (created_at);
        COMMENT ON TABLE email_verifications IS 'E-mail addresses to prove by a mailed code, for 24 hours.';
        COMMENT ON COLUMN email_verifications.id IS 'Named by the one who asked; of an enrolment the id of its session.';
        COMMENT ON COLUMN email_verifications.account_id IS
            'The account whose e-mail changes; otherwise the id that the account of the e-mail gets if there is none.';
        COMMENT ON COLUMN email_verifications.sign_in_id IS 'access_tokens.family_id of the sign-in that asked for the change.';
        COMMENT ON COLUMN email_verifications.email_lookups IS
            'The lookups of the e-mail, as in email_lookups; the account gets them.';
        COMMENT ON COLUMN email_verifications.former_email_lookups IS
            'With former_email_sealed: the e-mail that a change has replaced, which gets a mail about it.';
        COMMENT ON COLUMN email_verifications.address_key IS 'HMAC of the address of the client that asked (IPv6: its /64).';
        COMMENT ON COLUMN email_verifications.code_number IS 'The number of the code, which is part of its HMAC.';
        COMMENT ON COLUMN email_verifications.attempts_left IS 'The attempts to enter the code that are left.';
        COMMENT ON COLUMN email_verifications.mailed_at IS
            'When the last mail was requested; NULL when the address had its number of mails for the day.';
        COMMENT ON COLUMN email_verifications.token_hash IS 'SHA-256 of the enrolment token that the code was exchanged for.';

        CREATE TABLE pending_enrolments (
            id               uuid        PRIMARY KEY,
            user_id          uuid        NOT NULL,
            model_id         text        NOT NULL,
            pipeline_version integer     NOT NULL CHECK (pipeline_version > 0),
            template_sealed  bytea       NOT NULL,
            file_hashes      bytea[]     NOT NULL,
            pixel_hashes     bytea[]     NOT NULL,
            signatures       bytea[]     NOT NULL,
            consent_version  text,
            consent_hash     bytea       CHECK (octet_length(consent_hash) = 32),
            consent_at       timestamptz,
            email_lookups    bytea[]     CHECK (cardinality(email_lookups) > 0),
            due_at           timestamptz,
            refuses_duplicates boolean   NOT NULL DEFAULT false,
            created_at       timestamptz NOT NULL DEFAULT now(),
            number           bigint      NOT NULL UNIQUE,
            changed_in       xid8        NOT NULL,
            CONSTRAINT pending_enrolments_consent_is_whole
                CHECK (num_nulls(consent_version, consent_hash, consent_at) IN (0, 3)),
            CONSTRAINT pending_enrolments_recovery_has_email CHECK ((due_at IS NULL) = (email_lookups IS NULL))
        );
        CREATE UNIQUE INDEX pending_enrolments_one_recovery ON pending_enrolments (user_id) WHERE due_at IS NOT NULL;
        CREATE INDEX pending_enrolments_due ON pending_enrolments (due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX pending_enrolments_by_age ON pending_enrolments (created_at) WHERE due_at IS NULL;
        CREATE INDEX pending_enrolments_by_user ON pending_enrolments (user_id);
        CREATE INDEX pending_enrolments_by_change ON pending_enrolments (changed_in);
        CREATE TRIGGER pending_enrolments_numbered BEFORE INSERT OR DELETE OR UPDATE OF created_at ON pending_enrolments
            FOR EACH ROW EXECUTE FUNCTION face_numbered();
        COMMENT ON TABLE pending_enrolments IS 'Enrolled faces without effect yet. They are replaced, taken into effect or deleted.';
        COMMENT ON COLUMN pending_enrolments.id IS 'The session of the photos, and the verification that it waits for.';
        COMMENT ON COLUMN pending_enrolments.user_id IS 'The account; without due_at the id that it gets with the verification.';
        COMMENT ON COLUMN pending_enrolments.file_hashes IS
            'With pixel_hashes and signatures: the rows that face_photo_hashes gets, empty where it has NULL.';
        COMMENT ON COLUMN pending_enrolments.consent_version IS
            'With consent_hash and consent_at: the row that consents gets when the face takes effect.';
        COMMENT ON COLUMN pending_enrolments.refuses_duplicates IS
            'Whether the face gets no account while another account has the same: FACE_DUPLICATES at the time of the sign-up.';
        COMMENT ON COLUMN pending_enrolments.email_lookups IS
            'Of a recovery: the e-mail that was proven, as in email_lookups; it takes effect only if the account has it then.';
        COMMENT ON COLUMN pending_enrolments.number IS 'As face_templates.number; the account gets the face under another one.';
        COMMENT ON COLUMN pending_enrolments.due_at IS 'When a recovery replaces the face of the account; NULL for a first face.';
        """
}
