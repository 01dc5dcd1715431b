public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension DeliveryPageRepository {
    /// Claims the deliveries of a page that was never attempted: `pending → sending`. Call in a transaction.
    ///
    /// - Parameter lease: The length of the lease; after it, the page can be claimed as due by another sender.
    /// - Returns: The claimed deliveries; none when the page is claimed, deferred or settled.
    public func claim(_ id: UUID, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let page: PostgresQuery = """
            SELECT id AS taken_id FROM delivery_pages
            WHERE id = \(id) AND state = 'pending' AND attempt = 0 AND code IS NULL FOR UPDATE
            """
        return try await claim(page, lease: lease)
    }

    /// Claims the page of a lane that is due longest: it was deferred, its sender crashed, or its event never reached a sender.
    /// Skips pages that another transaction has locked. Call in a transaction.
    func claimDue(lane: Lane, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        let page: PostgresQuery = """
            SELECT id AS taken_id FROM delivery_pages WHERE lane = \(lane.rawValue) AND due_at <= now()
            ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        return try await claim(page, lease: lease)
    }

    /// Defers a page that was never attempted, without counting an attempt.
    ///
    /// - Parameters:
    ///   - delay: The time from now until it is due.
    ///   - code: The reason, kept for the operator.
    public func deferUnclaimed(_ id: UUID, for delay: Duration, code: String) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE delivery_pages SET due_at = now() + make_interval(secs => \(delay / .seconds(1))), code = \(code)
            WHERE id = \(id) AND state = 'pending' AND attempt = 0 AND code IS NULL
            """)
    }

    private func claim(_ page: PostgresQuery, lease: Duration) async throws(PostgresError) -> [ClaimedDelivery] {
        guard let id: UUID = try await db.query(page).first?.decode("taken_id") else { return [] }
        let taken = try await db.query(
            """
            UPDATE delivery_pages p
            SET state = 'sending', attempt = p.attempt + 1, due_at = now() + make_interval(secs => \(lease / .seconds(1))),
                code = CASE WHEN p.state = 'sending' THEN 'sender_lost' ELSE p.code END
            FROM notifications n
            WHERE p.id = \(id) AND n.id = p.notification_id
            RETURNING p.id, p.attempt, p.due_at AS lease_until, p.created_at, p.notification_id, n.kind, n.recipient_type, n.recipient_id,
                      n.lane, n.request_id, n.traceparent, n.expires_at, n.parameters::text AS parameters,
                      CASE WHEN n.expires_at <= now() THEN 'expired'
                           WHEN \(unescaped: DeliveryRepository.isJobGone) THEN 'job_gone' END AS skip_code
            """)
        guard let row = taken.first else { return [] }
        return try ClaimedDelivery.read(try await members(of: id), onPage: row)
    }

    /// Returns the open deliveries of a page, with the data needed to send them.
    private func members(of id: UUID) async throws(PostgresError) -> PostgresRows {
        try await db.query(
            """
            SELECT m.number, m.install_id,
                   CASE WHEN m.generation >= i.bound_generation THEN i.generation ELSE m.generation END AS generation,
                   i.kind AS target_kind, i.installation_key, i.value_sealed, i.platform,
                   i.user_id, i.state = 'suspect' AS is_suspect,
                   CASE WHEN (m.generation >= i.bound_generation) IS NOT TRUE THEN 'no_installation'
                        WHEN \(unescaped: DeliveryRepository.hasLeft(since: "p.created_at")) THEN 'not_a_member'
                        WHEN \(unescaped: DeliveryRepository.isPresent) THEN 'presence' END AS skip_code
            FROM delivery_pages p JOIN notifications n ON n.id = p.notification_id
            CROSS JOIN LATERAL unnest(p.install_ids, p.generations) WITH ORDINALITY AS m (install_id, generation, number)
            LEFT JOIN LATERAL (\(unescaped: DeliveryRepository.living("m.install_id"))) i ON true
            WHERE p.id = \(id) AND get_bit(p.accepted | p.parted, m.number::integer - 1) = 0
            """)
    }
}
