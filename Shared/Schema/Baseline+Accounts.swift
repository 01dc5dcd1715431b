extension Baseline {
    /// Accounts with their tokens and faces.
    ///
    /// Tokens are stored as SHA-256 hashes. `access_tokens_by_installation` covers revoked pairs too, because an installation that
    /// signed in lately has its own budget of failed sign-ins, signed out or not.
    static let accounts = """
        CREATE TABLE users (
            id                  uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
            email_sealed        bytea,
            subject_sealed      bytea,
            display_name_sealed bytea,
            state               text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'erasing')),
            created_at          timestamptz NOT NULL DEFAULT now(),
            sign_ins_ended_at   timestamptz,
            first_email_at      timestamptz,
            CONSTRAINT users_erasing_have_no_email
                CHECK (state = 'active' OR num_nulls(email_sealed, subject_sealed, display_name_sealed) = 3)
        );
        CREATE FUNCTION users_refuse_return() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'an account that is being erased is never active again' USING ERRCODE = 'check_violation';
        END $$;
        CREATE TRIGGER users_erasing_is_final BEFORE UPDATE ON users FOR EACH ROW
            WHEN (OLD.state = 'erasing' AND NEW.state <> 'erasing') EXECUTE FUNCTION users_refuse_return();
        COMMENT ON TABLE users IS 'Accounts. The e-mail is found by email_lookups and stored sealed, never in clear text.';
        COMMENT ON COLUMN users.email_sealed IS 'NULL for an account of an identity provider.';
        COMMENT ON COLUMN users.subject_sealed IS
            'The identity provider''s id of the person, from which their lookups are made anew; NULL for an account with an e-mail.';
        COMMENT ON COLUMN users.display_name_sealed IS 'The name that other users see; NULL when the user gave none.';
        COMMENT ON COLUMN users.state IS 'erasing: the row is deleted when all services have erased what they keep of the user.';
        COMMENT ON COLUMN users.sign_ins_ended_at IS
            'When all sign-ins of the account were ended last, or all but one; those uploaded before give no tokens.';
        COMMENT ON COLUMN users.first_email_at IS
            'When an account of an identity provider got an e-mail; a face that was uploaded before is not enrolled any more.';

        CREATE TABLE email_lookups (
            lookup  bytea PRIMARY KEY CHECK (octet_length(lookup) = 33 + get_byte(lookup, 0)),
            user_id uuid  NOT NULL REFERENCES users (id) ON DELETE CASCADE
        );
        CREATE INDEX email_lookups_by_user ON email_lookups (user_id);
        COMMENT ON TABLE email_lookups IS 'The lookups of the accounts'' e-mails, one for each key of LOOKUP_KEYS.';
        COMMENT ON COLUMN email_lookups.lookup IS
            'A byte with the length of the key''s id, the id, and the HMAC-SHA256 of the normalised e-mail.';

        CREATE TABLE identities (
            issuer         text        NOT NULL CHECK (octet_length(issuer) BETWEEN 1 AND 256),
            subject_lookup bytea       NOT NULL CHECK (octet_length(subject_lookup) = 33 + get_byte(subject_lookup, 0)),
            user_id        uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            valid_after    timestamptz,
            created_at     timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (issuer, subject_lookup)
        );
        CREATE INDEX identities_by_user ON identities (user_id);
        COMMENT ON TABLE identities IS
            'The accounts of people who sign in with an identity provider, such as Firebase: a row for each key of LOOKUP_KEYS.';
        COMMENT ON COLUMN identities.subject_lookup IS
            'As email_lookups.lookup, of the provider''s id of the person: an app may use an e-mail as that id.';
        COMMENT ON COLUMN identities.valid_after IS 'Tokens of sign-ins before this time are refused; NULL when none was revoked.';

        CREATE TABLE access_tokens (
            id                 uuid        PRIMARY KEY,
            user_id            uuid        NOT NULL REFERENCES users (id) ON DELETE CASCADE,
            session_id         uuid        NOT NULL,
            family_id          uuid        NOT NULL,
            access_hash        bytea       NOT NULL UNIQUE CHECK (octet_length(access_hash) = 32),
            refresh_hash       bytea       NOT NULL UNIQUE CHECK (octet_length(refresh_hash) = 32),
            installation_key   bytea       CHECK (octet_length(installation_key) = 32),
            device_key         bytea       CHECK (octet_length(device_key) = 32),
            device_key_storage text        CHECK (device_key_storage IN ('hardware', 'software')),
            other_key_at       timestamptz,
            is_moved           boolean     NOT NULL DEFAULT false,
            signed_in_at       timestamptz NOT NULL DEFAULT now(),
            created_at         timestamptz NOT NULL DEFAULT now(),
            expires_at         timestamptz NOT NULL,
            refresh_expires_at timestamptz NOT NULL,
            revoked_at         timestamptz,
            signed_out_at      timestamptz,
            unregister_at      timestamptz,
            CONSTRAINT access_tokens_refresh_outlives_access CHECK (refresh_expires_at >= expires_at),
            CONSTRAINT access_tokens_device_key_is_somewhere CHECK (num_nulls(device_key, device_key_storage) IN (0, 2))
        );
        CREATE INDEX access_tokens_by_user ON access_tokens (user_id) WHERE revoked_at IS NULL;
        CREATE INDEX access_tokens_by_family ON access_tokens (family_id);
        CREATE INDEX access_tokens_by_expiry ON access_tokens (refresh_expires_at);
        CREATE INDEX access_tokens_to_unregister ON access_tokens (unregister_at) WHERE unregister_at IS NOT NULL;
        CREATE INDEX access_tokens_by_installation ON access_tokens (user_id, installation_key, created_at);
        CREATE INDEX access_tokens_by_device_key ON access_tokens (user_id, device_key)
            WHERE device_key IS NOT NULL AND (revoked_at IS NULL OR signed_out_at IS NOT NULL);
        CREATE INDEX access_tokens_with_key_by_installation ON access_tokens (user_id, installation_key, created_at)
            WHERE device_key IS NOT NULL;
        COMMENT ON TABLE access_tokens IS 'Pairs of access and refresh token; a family is a sign-in with all its refreshes.';
        COMMENT ON COLUMN access_tokens.device_key IS
            'The thumbprint of the key (RFC 7638) without which the pair is not refreshed; NULL for a sign-in without a key.';
        COMMENT ON COLUMN access_tokens.device_key_storage IS 'Where the app said that the key is.';
        COMMENT ON COLUMN access_tokens.other_key_at IS
            'When the audit log last recorded that a token of the sign-in came with another key; rotation keeps it.';
        COMMENT ON COLUMN access_tokens.is_moved IS
            'Whether the sign-in was moved from one installation to another, which does not become a known device by that.';
        COMMENT ON COLUMN access_tokens.signed_in_at IS 'When the first pair of the family was minted; rotation keeps it.';
        COMMENT ON COLUMN access_tokens.signed_out_at IS
            'When the device signed itself out, which leaves its key known for a while; NULL when the sign-in ended otherwise.';
        COMMENT ON COLUMN access_tokens.unregister_at IS
            'When the installation of a revoked pair is unregistered; until then a push tells it why it was signed out.';
        COMMENT ON COLUMN access_tokens.session_id IS 'The session of the sign-in; no foreign key, because the session is deleted first.';

        CREATE TABLE face_templates (
            user_id          uuid        PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
            model_id         text        NOT NULL,
            pipeline_version integer     NOT NULL CHECK (pipeline_version > 0),
            template_sealed  bytea       NOT NULL,
            created_at       timestamptz NOT NULL DEFAULT now(),
            updated_at       timestamptz NOT NULL DEFAULT now(),
            number           bigint      NOT NULL UNIQUE,
            changed_in       xid8        NOT NULL
        );
        CREATE INDEX face_templates_by_change ON face_templates (changed_in);
        CREATE TRIGGER face_templates_numbered BEFORE INSERT OR DELETE OR UPDATE OF updated_at ON face_templates
            FOR EACH ROW EXECUTE FUNCTION face_numbered();
        COMMENT ON TABLE face_templates IS 'The enrolled face of each user; descriptors of different models are not comparable.';
        COMMENT ON COLUMN face_templates.template_sealed IS 'AES-256-GCM, bound to the user id.';
        COMMENT ON COLUMN face_templates.number IS 'The number of this face, as in face_removals; another key seals the same face.';

        CREATE TABLE face_photo_hashes (
            user_id     uuid        NOT NULL,
            file_hash   bytea       NOT NULL CHECK (octet_length(file_hash) = 32),
            pixel_hash  bytea       CHECK (octet_length(pixel_hash) = 32),
            signature   bit(1024),
            is_accepted boolean     NOT NULL,
            series_id   uuid,
            created_at  timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (user_id, file_hash)
        );
        CREATE UNIQUE INDEX face_photo_hashes_by_pixels ON face_photo_hashes (user_id, pixel_hash) WHERE pixel_hash IS NOT NULL;
        CREATE INDEX face_photo_hashes_by_signature ON face_photo_hashes (user_id, is_accepted, created_at)
            WHERE signature IS NOT NULL;
        CREATE INDEX face_photo_hashes_by_age ON face_photo_hashes (created_at);
        COMMENT ON TABLE face_photo_hashes IS
            'Photos that were used for a user, to detect replays; no foreign key, because decoy ids have rows too.';
        COMMENT ON COLUMN face_photo_hashes.file_hash IS 'HMAC of the user and the SHA-256 of the file.';
        COMMENT ON COLUMN face_photo_hashes.pixel_hash IS 'HMAC of the user and the SHA-256 of the decoded picture.';
        COMMENT ON COLUMN face_photo_hashes.signature IS
            'Signs of keyed projections of the face: few differ between copies of a photo. Not a template.';
        COMMENT ON COLUMN face_photo_hashes.is_accepted IS 'Whether the session of the photo has succeeded.';
        COMMENT ON COLUMN face_photo_hashes.series_id IS
            'sessions.series_id of the session that used it first, in which it is no replay; NULL after a proof of an e-mail.';
        """
}
