public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension DeliveryRepository {
    /// Takes deliveries of a notification that were never sent, under a lease of their own. Their rows stay as they are until
    /// each has ended: a batch costs one row.
    ///
    /// What must not be sent any more is found out in the same query, as late as can be. A push for a session goes to the
    /// device that started it, whoever signs in there meanwhile; any other push loses its target when the installation
    /// has passed to another user since it was addressed. A push about an image job loses it when the job is deleted or
    /// expired, a topic's that has waited when its user has left the topic, a chat push when the conversation is on the screen of
    /// that very installation, and an invitation's when the invitation has ended.
    ///
    /// - Parameters:
    ///   - ids: The deliveries; those that were put off or have ended are left out.
    ///   - notificationID: What all of them tell.
    ///   - leaseID: Names the batch: of two callers with the same batch, one gets it.
    ///   - lane: The lane of all of them.
    ///   - lease: How long the caller has; after that ``claimDue(lane:limit:lease:)`` gives them to somebody else.
    /// - Returns: The deliveries that the caller now holds.
    public func claim(
        _ ids: [UUID], of notificationID: UUID, as leaseID: UUID, lane: Lane, lease: Duration
    ) async throws(PostgresError) -> [ClaimedDelivery] {
        guard !ids.isEmpty else { return [] }
        // The notification is looked up once: its row has a version for each batch that has ended just now. OFFSET 0 keeps each
        // delivery, and what it is joined with, a look by key, also in a plan that was made while the tables were empty:
        // with `findByKey(planningAnew: false)` there is no other way.
        let query: PostgresQuery = """
            WITH lease AS (
                INSERT INTO push_leases (id, lane, lease_until, delivery_ids)
                VALUES (\(leaseID), \(lane.rawValue), now() + make_interval(secs => \(lease.inSeconds)), \(ids))
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

    /// Gives the leases of batches back of which nothing is under way any more. Belongs in the transaction that ends the last.
    public func release(leases: [UUID]) async throws(PostgresError) {
        guard !leases.isEmpty else { return }
        try await db.enqueue("DELETE FROM push_leases WHERE id = ANY(\(leases))")
    }

    /// Whether a sender has a delivery that was never sent before.
    static let isHeld = "id IN (SELECT unnest(delivery_ids) FROM push_leases WHERE lease_until > now())"

    /// The installation as it is when a push is sent, unless it has passed to another user since the push was addressed: to whom a
    /// session's push goes does not depend on that.
    static let generation = """
        CASE WHEN n.recipient_type = 'session' OR d.generation >= i.bound_generation THEN coalesce(i.generation, d.generation)
             ELSE d.generation END
        """

    /// What is needed to send a delivery besides its notification, found by its installation's id.
    static func joins(_ installID: String) -> String {
        """
        LEFT JOIN LATERAL (\(living(installID))) i ON true
        LEFT JOIN LATERAL (
            SELECT id FROM image_jobs WHERE id = \(jobID) AND deleted_at IS NULL AND expires_at > now() OFFSET 0) j ON true
        """
    }

    /// The installation that can be sent to, found by its id.
    static func living(_ installID: String) -> String {
        """
        SELECT * FROM push_installs
        WHERE id = \(installID)
          AND (state IN ('active', 'stale') OR (state = 'suspect' AND suspect_until <= now())) OFFSET 0
        """
    }

    /// Why a delivery is not to be sent; null when it is.
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

    /// Whether a topic's push is for somebody who is not in the topic any more. Who is in it was looked up when the push was addressed,
    /// so that it is asked again only of one that has waited. OFFSET 0 keeps it a look by key.
    static func hasLeft(since time: String) -> String {
        """
        n.recipient_type = 'topic' AND \(time) < now() - interval '10 seconds' AND NOT EXISTS (
            SELECT FROM topics t JOIN topic_members m ON m.topic_id = t.id WHERE t.name = n.recipient_id AND m.user_id = i.user_id
            OFFSET 0)
        """
    }

    /// Whether the conversation that a push is about is on the screen of the very installation.
    static let isPresent = """
        n.kind = 'chat_message' AND EXISTS (
            SELECT FROM push_presence s
            WHERE s.installation_key = i.installation_key AND s.user_id = i.user_id AND s.lease_until > now()
              AND s.topic_id::text = n.parameters->>'topic_id')
        """

    /// Whether the invitation that a push is about was accepted, declined or withdrawn, has expired, or is gone with its topic.
    private static let isUninvited = """
        n.kind = 'invitation' AND NOT EXISTS (
            SELECT FROM topic_invitations v
            WHERE v.user_id = i.user_id AND v.is_announced AND v.expires_at > now() AND v.topic_id::text = n.parameters->>'topic_id'
            OFFSET 0)
        """

    /// Whether the job that a notification is about is deleted or expired.
    static let isJobGone = """
        n.kind IN ('job_completed', 'job_failed') AND NOT EXISTS (
            SELECT FROM image_jobs WHERE id = \(jobID) AND deleted_at IS NULL AND expires_at > now())
        """

    /// The job a notification is about; null for other kinds, and for what is no id.
    private static let jobID = """
        CASE WHEN n.kind IN ('job_completed', 'job_failed')
                  AND n.parameters->>'job_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
             THEN (n.parameters->>'job_id')::uuid END
        """
}
