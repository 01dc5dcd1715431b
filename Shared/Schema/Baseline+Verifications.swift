extension Baseline {
    /// Proofs of e-mail addresses, and enrolled faces that wait for one or for the end of a recovery.
    ///
    /// Neither a code nor a token of a verification is stored: a code is an HMAC of the row, and the token is found by its hash.
    static let verifications = """
        CREATE TABLE email_verifications (
            id                   uuid        PRIMARY KEY,
            purpose              text        NOT NULL CHECK (purpose IN ('registration', 'enrolment', 'email_change', 'sign_in')),
            account_id           uuid        NOT NULL,
            sign_in_id           uuid,
            email_lookups        bytea[]     NOT NULL CHECK (cardinality(email_lookups) > 0),
            email_sealed         bytea       NOT NULL,
            display_name_sealed  bytea,
            former_email_lookups bytea[],
            former_email_sealed  bytea,
            reference            text        NOT NULL CHECK (reference ~ '^[A-Z]{4}$'),
            address_key          bytea       CHECK (octet_length(address_key) = 32),
            site_key             bytea       CHECK (octet_length(site_key) = 32),
            is_proven            boolean     NOT NULL DEFAULT false,
            asked_at             timestamptz DEFAULT now(),
            code_number          integer     NOT NULL DEFAULT 0 CHECK (code_number >= 0),
            attempts_left        integer     NOT NULL DEFAULT 0 CHECK (attempts_left >= 0),
            code_mail_id         uuid,
            mailed_at            timestamptz,
            code_expires_at      timestamptz,
            verified_at          timestamptz,
            denied_at            timestamptz,
            token_hash           bytea       UNIQUE CHECK (octet_length(token_hash) = 32),
            created_at           timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT email_verifications_token_is_verified CHECK (token_hash IS NULL OR verified_at IS NOT NULL),
            CONSTRAINT email_verifications_code_is_mailed CHECK (num_nulls(code_mail_id, mailed_at, code_expires_at) IN (0, 3)
                AND (code_number > 0) = (mailed_at IS NOT NULL) AND (attempts_left = 0 OR code_number > 0)),
            CONSTRAINT email_verifications_denied_is_over CHECK (
                denied_at IS NULL OR purpose = 'sign_in' AND verified_at IS NULL AND asked_at IS NULL AND attempts_left = 0),
            CONSTRAINT email_verifications_former_email_is_whole
                CHECK ((former_email_lookups IS NULL) = (former_email_sealed IS NULL))
        );
        -- Without a list of pending entries, which each search would read to its end: it may have 4 MB.
        CREATE INDEX email_verifications_by_email ON email_verifications USING gin (email_lookups) WITH (fastupdate = off);
        CREATE INDEX email_verifications_by_former_email ON email_verifications USING gin (former_email_lookups) WITH (fastupdate = off)
            WHERE former_email_lookups IS NOT NULL;
        CREATE INDEX email_verifications_by_account ON email_verifications (account_id);
        CREATE INDEX email_verifications_by_age ON email_verifications (created_at);
        COMMENT ON TABLE email_verifications IS 'E-mail addresses to prove by a mailed code, for 24 hours.';
        COMMENT ON COLUMN email_verifications.id IS 'Named by the one who asked; of an enrolment or a sign-in the id of its session.';
        COMMENT ON COLUMN email_verifications.account_id IS
            'The account whose e-mail changes, or that is signed in to; otherwise the id of an account that the e-mail may get.';
        COMMENT ON COLUMN email_verifications.sign_in_id IS 'access_tokens.family_id of the sign-in that asked for the change.';
        COMMENT ON COLUMN email_verifications.email_lookups IS
            'The lookups of the e-mail, as in email_lookups; the account gets them.';
        COMMENT ON COLUMN email_verifications.former_email_lookups IS
            'With former_email_sealed: the e-mail that a change has replaced, which gets a mail about it.';
        COMMENT ON COLUMN email_verifications.reference IS 'What the app shows, and what stands beside the code in the mail.';
        COMMENT ON COLUMN email_verifications.address_key IS 'HMAC of the address of the client that asked (IPv6: its /64).';
        COMMENT ON COLUMN email_verifications.site_key IS 'HMAC of the site of that address: of IPv6 the /48, else the address.';
        COMMENT ON COLUMN email_verifications.is_proven IS
            'Whether a bearer asked, or a code or the tokens of this e-mail went to the address before: it has its place in a mail.';
        COMMENT ON COLUMN email_verifications.asked_at IS 'Since when it waits for a mail with a new code; NULL when it does not.';
        COMMENT ON COLUMN email_verifications.code_number IS 'The number of the last mailed code, which is part of its HMAC; 0 before.';
        COMMENT ON COLUMN email_verifications.attempts_left IS 'The attempts to enter the code that are left.';
        COMMENT ON COLUMN email_verifications.code_mail_id IS 'The newest of code_mails that has the code.';
        COMMENT ON COLUMN email_verifications.mailed_at IS 'When the first mail with the last code was requested; the code ages from then.';
        COMMENT ON COLUMN email_verifications.denied_at IS
            'When another device of the account ended the sign-in, which gives no tokens then.';
        COMMENT ON COLUMN email_verifications.token_hash IS 'SHA-256 of the enrolment token that the code was exchanged for.';

        CREATE TABLE code_mails (
            id            uuid        PRIMARY KEY,
            email_lookups bytea[]     NOT NULL CHECK (cardinality(email_lookups) > 0),
            site_key      bytea       CHECK (octet_length(site_key) = 32),
            is_proven     boolean     NOT NULL,
            due_at        timestamptz NOT NULL,
            requested_at  timestamptz,
            request_id    text,
            traceparent   text,
            created_at    timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX code_mails_by_email ON code_mails USING gin (email_lookups) WITH (fastupdate = off);
        CREATE INDEX code_mails_due ON code_mails (due_at) WHERE requested_at IS NULL;
        CREATE INDEX code_mails_due_by_site ON code_mails (site_key, due_at) WHERE requested_at IS NULL;
        CREATE INDEX code_mails_by_request ON code_mails (requested_at) INCLUDE (site_key);
        CREATE INDEX code_mails_by_age ON code_mails (created_at);
        COMMENT ON TABLE code_mails IS
            'Mails with codes, sent and planned, for 24 hours. An address has at most one that is planned; all its open requests share it.';
        COMMENT ON COLUMN code_mails.email_lookups IS 'The lookups of the e-mail, as in email_verifications.';
        COMMENT ON COLUMN code_mails.site_key IS
            'Of the sites that asked the one with the fewest mails of late, as in email_verifications: sites get their mails in turns.';
        COMMENT ON COLUMN code_mails.is_proven IS 'Whether one of the requests is proven: such a mail comes first in its turn.';
        COMMENT ON COLUMN code_mails.due_at IS 'From when it may be sent: some time after the mail before.';
        COMMENT ON COLUMN code_mails.requested_at IS 'When mail.requested was published; NULL of a planned one.';
        COMMENT ON COLUMN code_mails.request_id IS 'With traceparent: the request that planned it.';

        CREATE TABLE wrong_codes (
            id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            site_key    bytea       NOT NULL CHECK (octet_length(site_key) = 32),
            is_in_total boolean     NOT NULL,
            at          timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX wrong_codes_by_site ON wrong_codes (site_key, at);
        CREATE INDEX wrong_codes_by_age ON wrong_codes (at);
        CREATE INDEX wrong_codes_in_total ON wrong_codes (at) WHERE is_in_total;
        COMMENT ON TABLE wrong_codes IS 'Codes that were entered and are wrong, for an hour: guesses on many addresses show only here.';
        COMMENT ON COLUMN wrong_codes.site_key IS 'The site of the client, as in email_verifications.';
        COMMENT ON COLUMN wrong_codes.is_in_total IS 'Whether it counts in the total of all sites: the first ten of a site in an hour do.';

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
