import PostgresClient

extension Migration {
    /// eKYC sessions: one upload of photos and the decision about it.
    ///
    /// The checks hold what the code promises: a terminal state has its time, a failure has its reason, only a
    /// successful sign-in is redeemed. `user_id` has no foreign key, because a sign-in with an unknown e-mail gets a
    /// decoy user, so that nobody can tell it from a wrong face.
    static let sessions = Migration(
        number: 2, name: "sessions",
        up: """
            CREATE TABLE sessions (
                id                uuid        PRIMARY KEY,
                user_id           uuid        NOT NULL,
                event             text        NOT NULL CHECK (event IN ('sign_up', 'sign_in')),
                authorised        boolean     NOT NULL DEFAULT false,
                state             text        NOT NULL DEFAULT 'received'
                                  CHECK (state IN ('received', 'processing', 'succeeded', 'failed', 'expired')),
                reason            text        CHECK (reason IN ('no_face', 'multiple_faces', 'face_too_small',
                                      'low_quality', 'pose_mismatch', 'inconsistent_faces', 'duplicate_images',
                                      'replayed_image', 'no_match', 'already_enrolled', 'timeout', 'internal')),
                retryable         boolean,
                token_hash        bytea       NOT NULL CHECK (octet_length(token_hash) = 32),
                push_token_sealed bytea,
                installation_key  bytea       CHECK (octet_length(installation_key) = 32),
                photos            jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(photos) = 'array'),
                request_id        text,
                traceparent       text,
                created_at        timestamptz NOT NULL DEFAULT now(),
                started_at        timestamptz,
                completed_at      timestamptz,
                deadline_at       timestamptz NOT NULL DEFAULT now() + interval '10 minutes',
                expires_at        timestamptz NOT NULL DEFAULT now() + interval '24 hours',
                redeemed_at       timestamptz,
                CONSTRAINT sessions_terminal_has_time
                    CHECK ((state IN ('succeeded', 'failed', 'expired')) = (completed_at IS NOT NULL)),
                CONSTRAINT sessions_failure_has_reason
                    CHECK ((state IN ('failed', 'expired')) = (reason IS NOT NULL)
                           AND (reason IS NULL) = (retryable IS NULL)),
                CONSTRAINT sessions_redeemed_is_succeeded_sign_in
                    CHECK (redeemed_at IS NULL OR (state = 'succeeded' AND event = 'sign_in'))
            );

            CREATE INDEX sessions_open_by_deadline ON sessions (deadline_at) WHERE state IN ('received', 'processing');
            CREATE INDEX sessions_by_expiry ON sessions (expires_at);
            CREATE INDEX sessions_decided_sign_ins ON sessions (user_id, completed_at)
                WHERE event = 'sign_in' AND state IN ('succeeded', 'failed');
            CREATE INDEX sessions_unredeemed_by_installation ON sessions (installation_key)
                WHERE event = 'sign_in' AND state = 'succeeded' AND redeemed_at IS NULL;
            CREATE INDEX sessions_decided_with_photos ON sessions (completed_at)
                WHERE state IN ('succeeded', 'failed', 'expired') AND photos <> '[]'::jsonb;

            COMMENT ON TABLE sessions IS 'One eKYC attempt; succeeded, failed and expired are final.';
            COMMENT ON COLUMN sessions.user_id IS 'No foreign key: an unknown e-mail gets a decoy user id.';
            COMMENT ON COLUMN sessions.authorised IS 'Made with the account''s bearer: may replace an existing face.';
            COMMENT ON COLUMN sessions.photos IS '[{key, pose, sha256}] of the sealed blobs; [] once they are deleted.';
            COMMENT ON COLUMN sessions.push_token_sealed IS 'Sealed FCM token; NULL once the push is settled.';
            COMMENT ON COLUMN sessions.installation_key IS 'push_installs.installation_key of that device.';
            """,
        down: "DROP TABLE sessions;"
    )
}
