extension Baseline {
    /// Sessions: one upload of photos and its decision.
    ///
    /// A sign-in with an unknown e-mail gets a decoy user id, so that it cannot be told from a wrong face; hence no foreign key. The
    /// account of a sign-up is created when its e-mail is proven and its face accepted; until the decision the session holds the e-mail.
    ///
    /// `sessions_open_sign_ins` serves the count of undecided sign-ins before each new one: with 12,500 open sessions 0.07 ms instead
    /// of 9.3 ms. `sessions_failed…` serve the limits of failed sign-ins over all accounts. `sessions_open_by_deadline` includes the
    /// columns by which admission counts undecided uploads, `sessions_by_site` the columns for the workers' time that an address has used,
    /// and `sessions_by_user` the columns for the time that an account has used in the lane `known`.
    static let sessions = """
        CREATE TABLE sessions (
            id                uuid        PRIMARY KEY,
            user_id           uuid        NOT NULL,
            event             text        NOT NULL CHECK (event IN ('sign_up', 'sign_in')),
            lane              text        NOT NULL DEFAULT 'new' CHECK (lane IN ('new', 'known', 'bulk')),
            is_known          boolean     NOT NULL DEFAULT false,
            awaits_turn       boolean     NOT NULL DEFAULT false,
            cost_ms           integer     NOT NULL DEFAULT 0 CHECK (cost_ms >= 0),
            authorised        boolean     NOT NULL DEFAULT false,
            authorised_by     uuid,
            state             text        NOT NULL DEFAULT 'received'
                              CHECK (state IN ('received', 'processing', 'succeeded', 'failed', 'expired')),
            reason            text        CHECK (reason IN ('no_face', 'multiple_faces', 'face_too_small',
                                  'low_quality', 'invalid_image', 'pose_mismatch', 'inconsistent_faces', 'duplicate_images',
                                  'replayed_image', 'liveness_failed', 'no_match', 'already_enrolled', 'face_in_use',
                                  'timeout', 'internal')),
            photo_problems    jsonb       NOT NULL DEFAULT '[]'
                              CHECK (jsonb_typeof(photo_problems) = 'array' AND length(photo_problems::text) <= 4096),
            retryable         boolean,
            attempts_left     integer,
            locked_until      timestamptz,
            token_hash        bytea       NOT NULL CHECK (octet_length(token_hash) = 32),
            verification_id   uuid,
            is_recovery       boolean     NOT NULL DEFAULT false,
            attempt_key       uuid,
            other_attempt_keys uuid[]     NOT NULL DEFAULT '{}',
            email_lookups     bytea[]     CHECK (cardinality(email_lookups) > 0),
            email_sealed      bytea,
            consent_version   text,
            consent_hash      bytea       CHECK (octet_length(consent_hash) = 32),
            device_key        bytea       CHECK (octet_length(device_key) = 32),
            install_id        uuid,
            installation_key  bytea       CHECK (octet_length(installation_key) = 32),
            address_key       bytea       CHECK (octet_length(address_key) = 32),
            site_key          bytea       CHECK (octet_length(site_key) = 32),
            photos            jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(photos) = 'array'),
            photo_bytes       bigint      NOT NULL DEFAULT 0 CHECK (photo_bytes >= 0),
            series_id         uuid,
            photos_kept_until timestamptz,
            copy_count        smallint    NOT NULL DEFAULT 0 CHECK (copy_count >= 0),
            challenge         text[]      CHECK (cardinality(challenge) = 3
                                  AND challenge <@ ARRAY['left', 'right', 'front', 'nearer'] AND challenge[1] <> 'nearer'),
            liveness          text        NOT NULL DEFAULT 'not_performed'
                              CHECK (liveness IN ('not_performed', 'passed', 'failed')),
            request_id        text,
            traceparent       text,
            created_at        timestamptz NOT NULL DEFAULT now(),
            started_at        timestamptz,
            completed_at      timestamptz,
            deadline_at       timestamptz NOT NULL DEFAULT now() + interval '10 minutes',
            expires_at        timestamptz NOT NULL DEFAULT now() + interval '24 hours',
            redeemed_at       timestamptz,
            forgiven_at       timestamptz,
            CONSTRAINT sessions_of_known_installations_wait_for_no_turn CHECK (NOT awaits_turn OR lane <> 'known'),
            CONSTRAINT sessions_terminal_has_time
                CHECK ((state IN ('succeeded', 'failed', 'expired')) = (completed_at IS NOT NULL)),
            CONSTRAINT sessions_failure_has_reason
                CHECK ((state IN ('failed', 'expired')) = (reason IS NOT NULL) AND (reason IS NULL) = (retryable IS NULL)),
            CONSTRAINT sessions_photo_problems_of_photos_alone
                CHECK (photo_problems = '[]'::jsonb
                       OR (state = 'failed' AND reason IS NOT NULL
                           AND reason IN ('no_face', 'multiple_faces', 'face_too_small', 'low_quality', 'invalid_image',
                               'pose_mismatch', 'inconsistent_faces', 'duplicate_images'))),
            CONSTRAINT sessions_photos_kept_for_retake
                CHECK (photos_kept_until IS NULL OR state IN ('received', 'processing')
                       OR (photo_problems <> '[]'::jsonb AND photos <> '[]'::jsonb)),
            CONSTRAINT sessions_liveness_is_of_decided
                CHECK ((liveness = 'not_performed' OR state IN ('succeeded', 'failed'))
                       AND (liveness = 'failed' OR reason IS DISTINCT FROM 'liveness_failed')
                       AND NOT (liveness = 'failed' AND state = 'succeeded')),
            CONSTRAINT sessions_redeemed_is_succeeded_sign_in
                CHECK (redeemed_at IS NULL OR (state = 'succeeded' AND event = 'sign_in')),
            CONSTRAINT sessions_attempts_left_of_failed_sign_in
                CHECK (attempts_left IS NULL OR (attempts_left >= 0 AND state = 'failed' AND event = 'sign_in')),
            CONSTRAINT sessions_locked_without_attempts
                CHECK ((attempts_left IS NOT DISTINCT FROM 0) = (locked_until IS NOT NULL) AND (locked_until IS NULL OR NOT retryable)),
            CONSTRAINT sessions_authorised_by_a_sign_in CHECK (authorised_by IS NULL OR authorised),
            CONSTRAINT sessions_recovery_is_verified CHECK (NOT is_recovery OR verification_id IS NOT NULL),
            CONSTRAINT sessions_verified_has_no_bearer CHECK (verification_id IS NULL OR NOT authorised),
            CONSTRAINT sessions_consent_to_sign_up
                CHECK (num_nulls(consent_version, consent_hash) = 2
                       OR (num_nulls(consent_version, consent_hash) = 0 AND event = 'sign_up')),
            CONSTRAINT sessions_device_key_of_sign_in CHECK (device_key IS NULL OR event = 'sign_in'),
            CONSTRAINT sessions_sign_in_is_counted
                CHECK ((attempt_key IS NOT NULL) = (event = 'sign_in') AND (other_attempt_keys = '{}' OR attempt_key IS NOT NULL)),
            CONSTRAINT sessions_email_of_open_sign_up
                CHECK (num_nulls(email_lookups, email_sealed) = 2
                       OR (num_nulls(email_lookups, email_sealed) = 0 AND event = 'sign_up' AND NOT authorised
                           AND verification_id IS NULL AND state IN ('received', 'processing')))
        );
        CREATE INDEX sessions_open_by_deadline ON sessions (deadline_at)
            INCLUDE (address_key, site_key, installation_key, user_id, authorised, photo_bytes, lane, awaits_turn, cost_ms)
            WHERE state IN ('received', 'processing');
        CREATE INDEX sessions_waiting ON sessions (address_key, created_at, id) WHERE awaits_turn AND state = 'received';
        CREATE INDEX sessions_waiting_by_site ON sessions (site_key, created_at, id) WHERE awaits_turn AND state = 'received';
        CREATE INDEX sessions_by_site ON sessions (site_key, created_at) INCLUDE (address_key, lane, cost_ms);
        CREATE INDEX sessions_by_user ON sessions (user_id, created_at) INCLUDE (lane, cost_ms);
        CREATE INDEX sessions_open_sign_ins ON sessions (attempt_key) WHERE event = 'sign_in' AND state IN ('received', 'processing');
        CREATE INDEX sessions_by_expiry ON sessions (expires_at);
        CREATE INDEX sessions_by_verification ON sessions (verification_id) WHERE verification_id IS NOT NULL;
        CREATE INDEX sessions_decided_sign_ins ON sessions (attempt_key, completed_at)
            WHERE event = 'sign_in' AND state IN ('succeeded', 'failed');
        CREATE INDEX sessions_failed_by_address ON sessions (address_key, completed_at)
            WHERE event = 'sign_in' AND state = 'failed' AND reason NOT IN ('internal', 'timeout');
        CREATE INDEX sessions_failed_by_site ON sessions (site_key, completed_at)
            WHERE event = 'sign_in' AND state = 'failed' AND reason NOT IN ('internal', 'timeout');
        CREATE INDEX sessions_failed_by_installation ON sessions (installation_key, completed_at)
            WHERE event = 'sign_in' AND state = 'failed' AND reason NOT IN ('internal', 'timeout');
        CREATE INDEX sessions_failed_comparisons ON sessions (completed_at) INCLUDE (site_key)
            WHERE event = 'sign_in' AND state = 'failed' AND reason IN ('no_match', 'liveness_failed');
        CREATE INDEX sessions_by_install ON sessions (install_id) WHERE install_id IS NOT NULL;
        CREATE INDEX sessions_decided_with_photos ON sessions (coalesce(photos_kept_until, completed_at))
            WHERE state IN ('succeeded', 'failed', 'expired') AND photos <> '[]'::jsonb;
        CREATE INDEX sessions_with_kept_photos ON sessions (site_key) INCLUDE (photo_bytes) WHERE photos_kept_until IS NOT NULL;
        COMMENT ON TABLE sessions IS 'Sign-ups and sign-ins by face; the states succeeded, failed and expired are final.';
        COMMENT ON COLUMN sessions.user_id IS
            'No foreign key: of a sign-up the id that the account gets, of a sign-in with an unknown e-mail a decoy.';
        COMMENT ON COLUMN sessions.lane IS 'The stream of its ekyc.requested.';
        COMMENT ON COLUMN sessions.is_known IS
            'Whether the upload had the account''s bearer, or came from an installation that is known to the account.';
        COMMENT ON COLUMN sessions.awaits_turn IS
            'Whether its ekyc.requested is not published yet, because others of its address or site are being examined.';
        COMMENT ON COLUMN sessions.cost_ms IS 'Time of face engines in milliseconds: an estimate until a worker has measured it.';
        COMMENT ON COLUMN sessions.authorised IS 'Whether the upload had the account''s bearer, so that it may replace an existing face.';
        COMMENT ON COLUMN sessions.authorised_by IS 'access_tokens.family_id of the bearer; checked again with the decision.';
        COMMENT ON COLUMN sessions.verification_id IS
            'The proof of the e-mail, as in email_verifications; a sign-in with it has a budget of failures of its own.';
        COMMENT ON COLUMN sessions.is_recovery IS 'Whether the face replaces that of the account after a delay.';
        COMMENT ON COLUMN sessions.attempt_key IS
            'Derived from the lookup of the e-mail under the first key; sign-ins are counted by it, with or without an account.';
        COMMENT ON COLUMN sessions.other_attempt_keys IS
            'The same under the other keys of LOOKUP_KEYS: sign-ins of any of them count together.';
        COMMENT ON COLUMN sessions.photo_problems IS
            '[{pose, index, problems}] of the bad photos; [] with a reason that depends on an account.';
        COMMENT ON COLUMN sessions.attempts_left IS 'Sign-ins left before the lock, as of completed_at: later events must not show.';
        COMMENT ON COLUMN sessions.locked_until IS 'The end of the lock, as of completed_at; then another attempt can succeed.';
        COMMENT ON COLUMN sessions.email_lookups IS 'The lookups of the e-mail of an undecided sign-up; erased with the decision.';
        COMMENT ON COLUMN sessions.email_sealed IS 'users.email_sealed of an undecided sign-up; erased with the decision.';
        COMMENT ON COLUMN sessions.consent_version IS 'What the sender of a sign-up consented to; consents.version.';
        COMMENT ON COLUMN sessions.consent_hash IS 'consents.text_hash.';
        COMMENT ON COLUMN sessions.install_id IS
            'push_installs.id with the FCM token of the upload; NULL once the push about a failure is settled.';
        COMMENT ON COLUMN sessions.device_key IS
            'The thumbprint of the key that the upload of a sign-in proved, without which it is not redeemed; NULL without a proof.';
        COMMENT ON COLUMN sessions.installation_key IS 'push_installs.installation_key of the phone.';
        COMMENT ON COLUMN sessions.address_key IS 'HMAC of the client''s address (IPv6: its /64).';
        COMMENT ON COLUMN sessions.site_key IS 'HMAC of the client''s site: of IPv6 its /48, else its address.';
        COMMENT ON COLUMN sessions.photos IS '[{key, pose, sha256}] of the sealed blobs; [] once they are deleted.';
        COMMENT ON COLUMN sessions.series_id IS
            'The first session of a series in which each other one retakes photos of the one before; NULL in the first one.';
        COMMENT ON COLUMN sessions.photos_kept_until IS
            'The end of the time in which a retake may use the good photos of a failed session; a retake inherits it.';
        COMMENT ON COLUMN sessions.copy_count IS 'How many uploads have copied its kept photos, or tried to.';
        COMMENT ON COLUMN sessions.forgiven_at IS 'When an operator made a failed sign-in count no more.';
        COMMENT ON COLUMN sessions.photo_bytes IS 'Bytes of the photos as they were uploaded.';
        COMMENT ON COLUMN sessions.challenge IS
            'The poses of the challenge that the upload answers, in the order of its photos; NULL without one.';
        COMMENT ON COLUMN sessions.liveness IS 'Whether the photos show a live person who followed the challenge, as decided.';
        """

    /// The answered challenges, so that no challenge is answered twice. A challenge that was only issued has no row.
    static let usedChallenges = """
        CREATE TABLE used_challenges (
            id          uuid        PRIMARY KEY,
            expires_at  timestamptz NOT NULL
        );
        CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);
        COMMENT ON TABLE used_challenges IS 'The random ids of challenges that started a session, until no upload can name them any more.';
        """

    /// The proofs of device keys that were used, so that none is used twice. Only a request that took effect has a row.
    static let usedDeviceProofs = """
        CREATE TABLE used_device_proofs (
            id          bytea       PRIMARY KEY CHECK (octet_length(id) = 32),
            expires_at  timestamptz NOT NULL
        );
        CREATE INDEX used_device_proofs_by_expiry ON used_device_proofs (expires_at);
        COMMENT ON TABLE used_device_proofs IS 'The used proofs of device keys, until none of them would be taken any more.';
        COMMENT ON COLUMN used_device_proofs.id IS 'SHA-256 of the thumbprint of the key and the jti.';
        """

    /// Responses to requests that carry an idempotency key; a row without a response is a lease on the request.
    ///
    /// `user_id` has no foreign key: a sign-up's response is kept under the id that its account would have.
    static let idempotency = """
        CREATE TABLE idempotency_keys (
            user_id       uuid        NOT NULL,
            route         text        NOT NULL CHECK (length(route) BETWEEN 1 AND 64),
            key           text        NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
            owner         uuid        NOT NULL,
            locked_until  timestamptz NOT NULL,
            expires_at    timestamptz NOT NULL,
            created_at    timestamptz NOT NULL DEFAULT now(),
            answered_at   timestamptz,
            fingerprint   bytea       CHECK (octet_length(fingerprint) = 32),
            resource_id   uuid,
            answer_status integer     CHECK (answer_status BETWEEN 200 AND 599),
            answer        text        CHECK (length(answer) <= 8192),
            PRIMARY KEY (user_id, route, key),
            CONSTRAINT idempotency_keys_answer_is_whole
                CHECK (num_nulls(answered_at, fingerprint, resource_id, answer_status, answer) IN (0, 5))
        );
        CREATE INDEX idempotency_keys_by_key ON idempotency_keys (key);
        CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
        COMMENT ON TABLE idempotency_keys IS 'Responses to repeatable requests, kept for 24 hours.';
        COMMENT ON COLUMN idempotency_keys.owner IS 'The request that holds the lease, or that was answered.';
        COMMENT ON COLUMN idempotency_keys.locked_until IS 'End of the lease; another request may take it over afterwards.';
        COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of the request''s content.';
        COMMENT ON COLUMN idempotency_keys.resource_id IS 'The session or job that the request created.';
        """
}
