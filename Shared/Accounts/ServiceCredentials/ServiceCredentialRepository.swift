public import FoundationEssentials
public import PostgresClient

/// Reads and writes `service_credentials`.
public struct ServiceCredentialRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts a credential with a key, whose secret is not stored.
    public func insert(_ new: NewServiceCredential, key: ServiceKey) async throws(PostgresError) -> ServiceCredential {
        let rows = try await db.query(
            """
            INSERT INTO service_credentials (id, app, name, secret_hash, scopes, expires_at)
            VALUES (\(key.credentialID), \(new.app), \(new.name), \(key.secretHash), \(new.scopes.map(\.rawValue).sorted()),
                    now() + make_interval(secs => \(new.lifetime.map { $0 / .seconds(1) })))
            RETURNING *
            """)
        return try ServiceCredential(row: rows.required())
    }

    /// Returns a credential, valid or not.
    public func find(id: UUID) async throws(PostgresError) -> ServiceCredential? {
        let query: PostgresQuery = "SELECT * FROM service_credentials WHERE id = \(id)"
        return try await db.query(query.readOnly()).first.map(ServiceCredential.init(row:))
    }

    /// Returns all credentials, the newest of each app first.
    public func all() async throws(PostgresError) -> [ServiceCredential] {
        let query: PostgresQuery = "SELECT * FROM service_credentials ORDER BY app, created_at DESC, id"
        return try await db.query(query.readOnly()).map(ServiceCredential.init(row:))
    }

    /// Revokes a credential for good.
    ///
    /// - Returns: Whether this call revoked it; false when it is unknown or was revoked before.
    public func revoke(id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE service_credentials SET revoked_at = now() WHERE id = \(id) AND revoked_at IS NULL") == 1
    }

    /// Records that a credential is used, unless that was recorded in the last minute: the hundreds of requests of a minute write once.
    public func markUsed(_ credential: ServiceCredential, at time: Date = Date()) async throws(PostgresError) {
        if let last = credential.lastUsedAt, time.timeIntervalSince(last) < 60 { return }
        try await db.execute(
            """
            UPDATE service_credentials SET last_used_at = now()
            WHERE id = \(credential.id) AND (last_used_at IS NULL OR last_used_at < now() - interval '59 seconds')
            """)
    }
}
