extension Baseline {
    /// Pushes that have left their page (`delivery_pages`): deferred, refused or skipped ones, one row per notification and installation.
    ///
    /// There are no foreign keys: the check cost a fan-out a lock on its notification's row for each delivery, and the ledger outlives
    /// an installation that signs out. A notification is deleted when it has no deliveries left.
    static let deliveries = """
        CREATE TABLE deliveries (
            id               uuid        PRIMARY KEY,
            notification_id  uuid        NOT NULL,
            install_id       uuid        NOT NULL,
            generation       bigint      NOT NULL,
            lane             text        NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
            state            text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending',
                                 'accepted', 'dead', 'failed', 'expired', 'skipped')),
            attempt          integer     NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            may_have_arrived boolean     NOT NULL DEFAULT false,
            due_at           timestamptz,
            fcm_name         text,
            code             text,
            created_at       timestamptz NOT NULL DEFAULT now(),
            settled_at       timestamptz,
            UNIQUE (notification_id, install_id),
            CONSTRAINT deliveries_open_has_time CHECK ((due_at IS NOT NULL) = (state IN ('pending', 'sending'))),
            CONSTRAINT deliveries_terminal_has_time CHECK ((state IN ('pending', 'sending')) = (settled_at IS NULL))
        ) WITH (fillfactor = 40);
        CREATE INDEX deliveries_due ON deliveries (lane, due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX deliveries_by_install ON deliveries (install_id);
        COMMENT ON TABLE deliveries IS 'Pushes detached from their pages; accepted, dead, failed, expired and skipped are final.';
        COMMENT ON COLUMN deliveries.generation IS 'push_installs.generation when the push was addressed.';
        COMMENT ON COLUMN deliveries.lane IS 'notifications.lane.';
        COMMENT ON COLUMN deliveries.may_have_arrived IS
            'Whether an earlier attempt has an unknown outcome: its response was lost, or its sender died. The next is sent silently.';
        COMMENT ON COLUMN deliveries.due_at IS 'When the push may be claimed by time: the end of its backoff, or of its lease.';
        COMMENT ON COLUMN deliveries.fcm_name IS 'The message name in the response of FCM; opaque.';
        """

    /// Pages: one row, one event and one lease for up to 500 pushes of a notification, and a view of all pushes, on a page or not.
    ///
    /// A row for each push would cost the server 28 µs for its insert, 24 for its claim and 11 for its end: more than a third of the
    /// cost of a fan-out. Nearly all pushes are accepted at the first attempt, which takes one bit. A push that is deferred, refused or
    /// skipped is detached from its page: it gets a row in `deliveries`.
    static let deliveryPages = """
        CREATE TABLE delivery_pages (
            id               uuid             PRIMARY KEY,
            notification_id  uuid             NOT NULL,
            lane             text             NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
            first_user_id    uuid,
            last_user_id     uuid,
            install_ids      uuid[]           NOT NULL CHECK (cardinality(install_ids) BETWEEN 1 AND 500),
            generations      bigint[]         NOT NULL,
            accepted         bit varying(500) NOT NULL,
            detached           bit varying(500) NOT NULL,
            fcm_name_numbers smallint[]       NOT NULL DEFAULT '{}',
            fcm_names        text[]           NOT NULL DEFAULT '{}',
            state            text             NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'settled')),
            attempt          integer          NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            due_at           timestamptz,
            code             text,
            created_at       timestamptz      NOT NULL DEFAULT now(),
            ended_at         timestamptz,
            CONSTRAINT delivery_pages_members CHECK (
                cardinality(generations) = cardinality(install_ids) AND length(accepted) = cardinality(install_ids)
                AND length(detached) = cardinality(install_ids) AND bit_count(accepted & detached) = 0),
            CONSTRAINT delivery_pages_open_has_time CHECK ((state = 'settled') = (due_at IS NULL))
        );
        ALTER TABLE delivery_pages
            ALTER COLUMN install_ids SET STORAGE EXTERNAL, ALTER COLUMN generations SET STORAGE EXTERNAL,
            ALTER COLUMN fcm_names SET STORAGE EXTERNAL, ALTER COLUMN fcm_name_numbers SET STORAGE EXTERNAL;
        CREATE INDEX delivery_pages_by_member ON delivery_pages (notification_id, last_user_id);
        CREATE INDEX delivery_pages_by_first_user ON delivery_pages (first_user_id) WHERE first_user_id IS NOT NULL;
        CREATE INDEX delivery_pages_by_last_user ON delivery_pages (last_user_id) WHERE last_user_id IS NOT NULL;
        CREATE INDEX delivery_pages_due ON delivery_pages (lane, due_at) WHERE due_at IS NOT NULL;
        COMMENT ON TABLE delivery_pages IS
            'Up to 500 pushes of a notification each. The id of the n-th push is that of the page with n as its last 16 bits.';
        COMMENT ON COLUMN delivery_pages.first_user_id IS
            'The least user id of its installations; NULL when one has no user.';
        COMMENT ON COLUMN delivery_pages.accepted IS 'One bit per push: whether FCM accepted it.';
        COMMENT ON COLUMN delivery_pages.detached IS 'One bit per push: whether it was detached from the page and has a row in deliveries.';
        COMMENT ON COLUMN delivery_pages.fcm_names IS 'FCM''s message names of the pushes in fcm_name_numbers; opaque.';
        COMMENT ON COLUMN delivery_pages.due_at IS 'When the page may be claimed by time: the end of its backoff, or of its lease.';
        COMMENT ON COLUMN delivery_pages.ended_at IS 'When the last of its pushes ended.';

        CREATE VIEW delivery_ledger AS
            SELECT id, NULL::uuid AS page_id, notification_id, install_id, generation, lane, state, attempt, due_at,
                   fcm_name, code, created_at, settled_at
            FROM deliveries
            UNION ALL
            SELECT overlay(p.id::text PLACING lpad(to_hex(m.number), 4, '0') FROM 33)::uuid, p.id, p.notification_id,
                   m.install_id, m.generation, p.lane,
                   CASE WHEN get_bit(p.accepted, m.number::integer - 1) = 1 THEN 'accepted' ELSE p.state END, p.attempt,
                   CASE WHEN get_bit(p.accepted, m.number::integer - 1) = 0 THEN p.due_at END, f.name, p.code, p.created_at,
                   CASE WHEN get_bit(p.accepted, m.number::integer - 1) = 1 THEN p.ended_at END
            FROM delivery_pages p
            CROSS JOIN LATERAL unnest(p.install_ids, p.generations) WITH ORDINALITY AS m (install_id, generation, number)
            LEFT JOIN LATERAL unnest(p.fcm_name_numbers, p.fcm_names) AS f (number, name) ON f.number = m.number
            WHERE get_bit(p.detached, m.number::integer - 1) = 0;
        COMMENT ON VIEW delivery_ledger IS 'All pushes, one row each, on a page or not; for lookups.';
        """

    /// Budgets that all senders share: of a project with FCM, and of each installation that receives many pushes.
    ///
    /// Only installations in a burst have a row in `push_install_rates`. It is not logged: after a crash of the server each begins
    /// with full buckets, which FCM tolerates.
    static let pushLimits = """
        CREATE TABLE push_quota (
            project     text        PRIMARY KEY CHECK (length(project) <= 200),
            tokens      float8      NOT NULL DEFAULT 0 CHECK (tokens >= 0),
            bulk_tokens float8      NOT NULL DEFAULT 0 CHECK (bulk_tokens >= 0),
            refilled_at timestamptz NOT NULL DEFAULT '-infinity',
            bulk_since  timestamptz NOT NULL DEFAULT '-infinity',
            bulk_at     timestamptz NOT NULL DEFAULT '-infinity'
        ) WITH (fillfactor = 10);
        COMMENT ON TABLE push_quota IS 'Token bucket of pushes per project; senders take several at a time.';
        COMMENT ON COLUMN push_quota.bulk_tokens IS 'The share of the bulk lane; its rate grows slowly at the beginning.';
        COMMENT ON COLUMN push_quota.bulk_since IS 'When the bulk lane began after a pause.';
        COMMENT ON COLUMN push_quota.bulk_at IS 'When the bulk lane last took tokens.';

        CREATE UNLOGGED TABLE push_install_rates (
            install_id    uuid        PRIMARY KEY,
            minute_tokens float8      NOT NULL CHECK (minute_tokens >= 0),
            hour_tokens   float8      NOT NULL CHECK (hour_tokens >= 0),
            filled_at     timestamptz NOT NULL DEFAULT clock_timestamp()
        ) WITH (fillfactor = 50);
        COMMENT ON TABLE push_install_rates IS 'Token buckets of installations that receive many pushes.';
        COMMENT ON COLUMN push_install_rates.filled_at IS 'When both buckets were last refilled.';
        """
}
