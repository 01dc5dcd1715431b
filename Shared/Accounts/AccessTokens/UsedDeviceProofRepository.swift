public import FoundationEssentials
public import PostgresClient

/// Reads and writes `used_device_proofs`: each proof of a device's key is used once, by all instances together.
public struct UsedDeviceProofRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Uses a proof up. In the transaction of the request's effect: of two concurrent uses, the second waits for the first.
    ///
    /// - Parameters:
    ///   - id: SHA-256 of the key and the proof's `jti`; 32 bytes.
    ///   - expiresAt: A time from which no instance takes the proof.
    /// - Returns: Whether it was not used before.
    public func use(id: [UInt8], expiresAt: Date) async throws(PostgresError) -> Bool {
        try await db.execute(
            "INSERT INTO used_device_proofs (id, expires_at) VALUES (\(id), \(expiresAt)) ON CONFLICT (id) DO NOTHING") == 1
    }

    /// Deletes at most `limit` proofs that no instance takes any more.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM used_device_proofs WHERE id IN (
                SELECT id FROM used_device_proofs WHERE expires_at <= now()
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
