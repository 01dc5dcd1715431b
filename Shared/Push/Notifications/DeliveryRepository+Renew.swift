internal import FoundationEssentials
public import PostgresClient

extension DeliveryRepository {
    /// Renews the leases of claims: the deliveries stay `sending`.
    ///
    /// - Parameter lease: The length of the lease, from now.
    /// - Returns: The renewed claims; the others are settled, deferred, or claimed by another sender.
    public func renew(_ claims: [DeliveryClaim], lease: Duration) async throws(PostgresError) -> Set<DeliveryClaim> {
        let pages = try await renew("delivery_pages", claims.filter(\.isPage), lease)
        return pages.union(try await renew("deliveries", claims.filter { !$0.isPage }, lease))
    }

    private func renew(_ table: String, _ claims: [DeliveryClaim], _ lease: Duration) async throws(PostgresError) -> Set<DeliveryClaim> {
        guard !claims.isEmpty else { return [] }
        // Locks rows in the order of their ids, as every statement that changes several rows does.
        let rows = try await db.query(
            """
            WITH given AS (
                SELECT * FROM unnest(\(claims.map(\.rowID)), \(claims.map { Int32($0.attempt) })) AS g (given_id, given_attempt)
                ORDER BY given_id
            ), held AS MATERIALIZED (
                SELECT given_id FROM given CROSS JOIN LATERAL (
                    SELECT FROM \(unescaped: table)
                    WHERE id = given_id AND state = 'sending' AND attempt = given_attempt FOR UPDATE) r
            )
            UPDATE \(unescaped: table) SET due_at = now() + make_interval(secs => \(lease / .seconds(1)))
            FROM held WHERE id = given_id
            RETURNING id, attempt
            """)
        let attempts = Dictionary(
            uniqueKeysWithValues: zip(try rows.column("id", as: UUID.self), try rows.column("attempt", as: Int32.self)))
        return Set(claims.filter { attempts[$0.rowID] == Int32($0.attempt) })
    }
}
