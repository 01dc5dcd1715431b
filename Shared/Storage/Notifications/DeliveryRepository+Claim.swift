public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Claims deliveries of a notification that were never sent, under one lease for the batch. Their rows are not written until each
    /// is settled, so that a claim writes one row.
    ///
    /// The same query decides, as late as possible, which deliveries must not be sent any more. A push for a session is sent to the
    /// device that started it, even if another user has signed in on it; any other push is skipped when the installation has passed
    /// to another user since it was addressed. A push about an image job is skipped when the job is deleted or expired, a topic's
    /// push that has waited when its user has left the topic, a chat push when the conversation is on that installation's screen,
    /// and a push about an invitation when the invitation has ended.
    ///
    /// - Parameters:
    ///   - ids: The deliveries; deferred and settled ones are ignored.
    ///   - notificationID: The notification of all of them.
    ///   - leaseID: The id of the batch: of two callers with the same batch, one gets it.
    ///   - lane: The lane of all of them.
    ///   - lease: The length of the lease; after it, ``claimDue(lane:limit:lease:)`` gives them to another sender.
    /// - Returns: The claimed deliveries.
    public func claim(
        _ ids: [UUID], of notificationID: UUID, as leaseID: UUID, lane: Lane, lease: Duration
    ) async throws(PostgresError) -> [ClaimedDelivery] {
        guard !ids.isEmpty else { return [] }
        // The notification is looked up once: its row has a dead version for each recently settled batch. OFFSET 0 makes each
        // delivery, and the rows joined to it, an index lookup, even in a plan that was made while the tables were empty: with
        // `forceIndexPlans(replan: false)` no other plan is possible.
        let query: PostgresQuery = """
            WITH lease AS (
                INSERT INTO push_leases (id, lane, lease_until, delivery_ids)
                VALUES (\(leaseID), \(lane.rawValue), now() + make_interval(secs => \(lease / .seconds(1))), \(ids))
                ON CONFLICT DO NOTHING RETURNING id AS lease_id, lease_until
            ), n AS MATERIALIZED (SELECT * FROM notifications WHERE id = \(notificationID))
            SELECT d.id, d.notification_id, d.install_id, d.attempt + 1 AS attempt, d.may_have_arrived, l.lease_id,
                   l.lease_until, d.created_at,
                   \(unescaped: Self.generation) AS generation, \(unescaped: Self.skipCode(Self.generation)) AS skip_code,
                   i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform, i.user_id, i.state = 'suspect' AS is_suspect,
                   n.kind, n.recipient_type, n.recipient_id, n.lane, n.request_id, n.traceparent, n.expires_at,
                   CASE WHEN row_number() OVER () = 1 THEN n.parameters::text END AS parameters
            FROM lease l CROSS JOIN n CROSS JOIN unnest(\(ids)) AS given (given_id)
            CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE id = given_id OFFSET 0) d
            \(unescaped: Self.joins("d.install_id"))
            WHERE d.notification_id = n.id AND d.state = 'pending' AND d.due_at IS NULL
            """
        return try ClaimedDelivery.read(try await db.query(query))
    }

    /// Deletes the leases of batches without open deliveries. Call in the transaction that ends the last delivery of each.
    public func release(leases: [UUID]) async throws(PostgresError) {
        guard !leases.isEmpty else { return }
        try await db.enqueue("DELETE FROM push_leases WHERE id = ANY(\(leases))")
    }

    /// SQL condition: a sender holds the lease of a delivery that was never sent before.
    static let isHeld = "id IN (SELECT unnest(delivery_ids) FROM push_leases WHERE lease_until > now())"

    /// SQL expression for the generation to send to: the installation's current one, unless it has passed to another user since the
    /// push was addressed. A session's push is sent to the installation independently of its user.
    static let generation = """
        CASE WHEN n.recipient_type = 'session' OR d.generation >= i.bound_generation THEN coalesce(i.generation, d.generation)
             ELSE d.generation END
        """

    /// Makes the SQL joins of the installation and the image job that a delivery needs.
    static func joins(_ installID: String) -> String {
        """
        LEFT JOIN LATERAL (\(living(installID))) i ON true
        LEFT JOIN LATERAL (
            SELECT id FROM image_jobs WHERE id = \(jobID) AND deleted_at IS NULL AND expires_at > now() OFFSET 0) j ON true
        """
    }

    /// Makes the SQL subquery of an installation by id, if pushes can be sent to it.
    static func living(_ installID: String) -> String {
        """
        SELECT * FROM push_installs
        WHERE id = \(installID)
          AND (state IN ('active', 'stale') OR (state = 'suspect' AND suspect_until <= now())) OFFSET 0
        """
    }

    /// Makes the SQL expression for the reason not to send a delivery; null when it is to be sent.
    static func skipCode(_ generation: String) -> String {
        """
        CASE WHEN n.expires_at <= now() THEN 'expired'
             WHEN n.kind IN ('job_completed', 'job_failed') AND j.id IS NULL THEN 'job_gone'
             WHEN \(generation) IS DISTINCT FROM i.generation THEN 'no_installation'
             WHEN \(hasLeft(since: "d.created_at")) THEN 'not_a_member'
             WHEN \(isPresent) THEN 'presence'
             WHEN \(isUninvited) THEN 'not_invited' END
        """
    }

    /// Makes the SQL condition that a topic's push is for a user who has left the topic. Membership was checked when the push was
    /// addressed, so it is checked again only after the delivery has waited. OFFSET 0 makes it an index lookup.
    static func hasLeft(since time: String) -> String {
        """
        n.recipient_type = 'topic' AND \(time) < now() - interval '10 seconds' AND NOT EXISTS (
            SELECT FROM topics t JOIN topic_members m ON m.topic_id = t.id WHERE t.name = n.recipient_id AND m.user_id = i.user_id
            OFFSET 0)
        """
    }

    /// SQL condition: the conversation that a push is about is on the installation's screen.
    static let isPresent = """
        n.kind = 'chat_message' AND EXISTS (
            SELECT FROM push_presence s
            WHERE s.installation_key = i.installation_key AND s.user_id = i.user_id AND s.lease_until > now()
              AND s.topic_id::text = n.parameters->>'topic_id')
        """

    /// SQL condition: the invitation that a push is about was accepted, declined or withdrawn, has expired, or was deleted with its
    /// topic.
    private static let isUninvited = """
        n.kind = 'invitation' AND NOT EXISTS (
            SELECT FROM topic_invitations v
            WHERE v.user_id = i.user_id AND v.is_announced AND v.expires_at > now() AND v.topic_id::text = n.parameters->>'topic_id'
            OFFSET 0)
        """

    /// SQL condition: the job that a notification is about is deleted or expired.
    static let isJobGone = """
        n.kind IN ('job_completed', 'job_failed') AND NOT EXISTS (
            SELECT FROM image_jobs WHERE id = \(jobID) AND deleted_at IS NULL AND expires_at > now())
        """

    /// SQL expression for the id of the job that a notification is about; null for other kinds, and for an invalid id.
    private static let jobID = """
        CASE WHEN n.kind IN ('job_completed', 'job_failed')
                  AND n.parameters->>'job_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
             THEN (n.parameters->>'job_id')::uuid END
        """
}
