import PostgresClient

extension Migration {
    /// The ledger of a fan-out by the page: one row for up to 500 pushes of a notification.
    ///
    /// A row of `deliveries` for each push cost the server 28 µs for its insert with three indexes, 24 for its claim and 11 for its
    /// end, which was more than a third of all that a fan-out costs. Nearly all pushes of a fan-out are accepted at the first try,
    /// and of these there is little to say: a bit. What needs saying more (a push that is put off, refused, or skipped) parts
    /// from its page and has a row of its own from then on, so that whatever works on deliveries works on it.
    static let deliveryPages = Migration(
        number: 27, name: "delivery_pages",
        up: """
            CREATE TABLE delivery_pages (
                id               uuid             PRIMARY KEY,
                notification_id  uuid             NOT NULL,
                lane             text             NOT NULL CHECK (lane IN ('urgent', 'normal', 'bulk')),
                first_user_id    uuid             NOT NULL,
                last_user_id     uuid             NOT NULL,
                install_ids      uuid[]           NOT NULL CHECK (cardinality(install_ids) BETWEEN 1 AND 500),
                generations      bigint[]         NOT NULL,
                accepted         bit varying(500) NOT NULL,
                parted           bit varying(500) NOT NULL,
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
                    AND length(parted) = cardinality(install_ids) AND bit_count(accepted & parted) = 0),
                CONSTRAINT delivery_pages_open_has_time CHECK ((state = 'settled') = (due_at IS NULL))
            );
            ALTER TABLE delivery_pages
                ALTER COLUMN install_ids SET STORAGE EXTERNAL, ALTER COLUMN generations SET STORAGE EXTERNAL,
                ALTER COLUMN fcm_names SET STORAGE EXTERNAL, ALTER COLUMN fcm_name_numbers SET STORAGE EXTERNAL;
            CREATE INDEX delivery_pages_by_member ON delivery_pages (notification_id, last_user_id);
            CREATE INDEX delivery_pages_due ON delivery_pages (lane, due_at) WHERE due_at IS NOT NULL;

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
                WHERE get_bit(p.parted, m.number::integer - 1) = 0;

            COMMENT ON TABLE delivery_pages IS
                'Up to 500 pushes of a fan-out. The id of the n-th is that of the page with n as its last 16 bits.';
            COMMENT ON COLUMN delivery_pages.first_user_id IS
                'The members whose installations are on the page are those from this to the last, in the order of their ids.';
            COMMENT ON COLUMN delivery_pages.accepted IS 'One bit a push: whether FCM took it.';
            COMMENT ON COLUMN delivery_pages.parted IS 'One bit a push: whether it has a row in deliveries, and is no longer of the page.';
            COMMENT ON COLUMN delivery_pages.fcm_names IS 'What FCM called those it took, whose numbers are beside; opaque.';
            COMMENT ON COLUMN delivery_pages.due_at IS
                'When somebody may take the page who looks for it: put off until then, or the end of the lease it is sent under.';
            COMMENT ON COLUMN delivery_pages.ended_at IS 'When the last of those that have ended did.';
            COMMENT ON VIEW delivery_ledger IS 'All pushes, one row each, be they of a page or not; for looking things up.';
            """,
        down: """
            DROP VIEW delivery_ledger;
            INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, attempt, due_at, code, created_at,
                                    fcm_name, settled_at)
                SELECT overlay(p.id::text PLACING lpad(to_hex(m.number), 4, '0') FROM 33)::uuid, p.notification_id,
                       m.install_id, m.generation, p.lane, CASE WHEN is_accepted THEN 'accepted' ELSE 'pending' END, p.attempt,
                       CASE WHEN NOT is_accepted THEN now() END, CASE WHEN NOT is_accepted THEN 'page_split' END, p.created_at,
                       f.name, CASE WHEN is_accepted THEN p.ended_at END
                FROM delivery_pages p
                CROSS JOIN LATERAL unnest(p.install_ids, p.generations) WITH ORDINALITY AS m (install_id, generation, number)
                CROSS JOIN LATERAL (SELECT get_bit(p.accepted, m.number::integer - 1) = 1 AS is_accepted) a
                LEFT JOIN LATERAL unnest(p.fcm_name_numbers, p.fcm_names) AS f (number, name) ON f.number = m.number
                WHERE get_bit(p.parted, m.number::integer - 1) = 0
                ON CONFLICT DO NOTHING;
            DROP TABLE delivery_pages;
            """
    )
}
