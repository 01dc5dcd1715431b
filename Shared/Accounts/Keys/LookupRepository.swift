public import FoundationEssentials
internal import HeliographCrypto
public import PostgresClient

/// Reads lookups by the keys that made them, adds lookups of a new key, and removes lookups of removed keys.
public struct LookupRepository: Sendable {
    private let postgres: PostgresClient

    /// Works on a client, with transactions of its own.
    public init(_ postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// Returns at most `limit` rows of a source in the order of the primary key.
    ///
    /// - Parameter id: The last primary key of the page before; nil to begin.
    /// - Returns: The rows that have lookups, and the last primary key that was read; nil at the end of the table.
    public func page(of source: LookupSource, after id: UUID?, limit: Int) async throws(PostgresError) -> (
        owners: [LookupOwner], last: UUID?
    ) {
        let columns = source.columns
        let issuer = source == .subjects ? "(SELECT min(issuer) FROM identities i WHERE i.user_id = t.id)" : "NULL::text"
        let query: PostgresQuery = """
            SELECT t.id, t.\(unescaped: columns.sealed) AS sealed, t.\(unescaped: columns.account) AS account_id,
                   \(unescaped: issuer) AS issuer, \(unescaped: source.lookups) AS lookups
            FROM \(unescaped: columns.table) t WHERE t.id > \(id ?? SealedValueRepository.first) ORDER BY t.id LIMIT \(limit)
            """
        let rows = try await postgres.query(query)
        var owners: [LookupOwner] = []
        for row in rows {
            if let owner = try LookupOwner(row: row, of: source) { owners.append(owner) }
        }
        return (owners, rows.count < limit ? nil : try rows.last?.decode("id"))
    }

    /// Gives a row lookups, unless its plain text or its lookups were changed meanwhile. It keeps its other lookups: if this ring lacks a
    /// key that services have, the services still find the account that is made of the row.
    ///
    /// - Returns: Whether the lookups were added.
    public func add(_ lookups: [[UInt8]], to owner: LookupOwner) async throws -> Bool {
        let columns = owner.source.columns
        switch owner.source {
        case .sessions, .verifications, .formerEmails:
            let column = owner.source.lookups
            let all = lookups + owner.lookups.filter { !lookups.contains($0) }
            // A mail has no sealed plain text. It is found by the lookups of its verifications, and is deleted with them.
            if owner.source == .verifications {
                try await postgres.execute(
                    """
                    UPDATE code_mails SET email_lookups = email_lookups || \(lookups)
                    WHERE email_lookups && \(owner.lookups) AND NOT email_lookups @> \(lookups)
                    """)
            }
            return try await postgres.execute(
                """
                UPDATE \(unescaped: columns.table) SET \(unescaped: column) = \(all)
                WHERE id = \(owner.id) AND \(unescaped: columns.sealed) = \(owner.sealed) AND \(unescaped: column) = \(owner.lookups)
                """) == 1
        case .emails:
            // A change of the e-mail waits for this, or this for it.
            return try await postgres.execute(
                """
                INSERT INTO email_lookups (lookup, user_id)
                SELECT unnest(\(lookups)), id FROM (
                    SELECT id FROM users WHERE id = \(owner.id) AND email_sealed = \(owner.sealed) FOR SHARE) account
                ON CONFLICT DO NOTHING
                """) > 0
        case .subjects:
            return try await postgres.withTransaction { transaction in
                // A revocation changes all rows of the person, or comes before this copies one.
                try await SignInRepository(transaction).lock(of: owner.id)
                let found = try await transaction.query(
                    "SELECT FROM users WHERE id = \(owner.id) AND subject_sealed = \(owner.sealed) FOR SHARE")
                guard !found.isEmpty else { return false }
                return try await transaction.execute(
                    """
                    INSERT INTO identities (issuer, subject_lookup, user_id, valid_after, created_at)
                    SELECT issuer, unnest(\(lookups)), user_id, valid_after, created_at FROM (
                        SELECT * FROM identities WHERE user_id = \(owner.id) AND issuer = \(owner.issuer) LIMIT 1) known
                    ON CONFLICT DO NOTHING
                    """) > 0
            }
        }
    }

    /// Counts, by the id of a key, the rows that only its lookups find; for the first key, all rows that its lookups find.
    ///
    /// Persons whose account was erased are counted as well: a rotation cannot add lookups for them, and they are deleted by their age.
    ///
    /// - Parameter first: The first key of the ring; nil counts all lookups.
    public func counts(first: String?) async throws(PostgresError) -> [String: Int] {
        let prefix = first.map { [UInt8($0.utf8.count)] + Array($0.utf8) }
        var counts: [String: Int] = [:]
        for source in LookupSource.allCases {
            let columns = source.columns
            let query: PostgresQuery = """
                SELECT \(unescaped: Self.keyID(of: "lookup")) AS key_id, count(*)::bigint AS count
                FROM (SELECT \(unescaped: source.lookups) AS lookups FROM \(unescaped: columns.table) t
                      WHERE t.\(unescaped: columns.sealed) IS NOT NULL) owners, LATERAL unnest(lookups) lookup
                WHERE \(prefix)::bytea IS NULL OR substr(lookup, 1, octet_length(\(prefix)::bytea)) = \(prefix)::bytea
                   OR NOT EXISTS (SELECT FROM unnest(lookups) o WHERE substr(o, 1, octet_length(\(prefix)::bytea)) = \(prefix)::bytea)
                GROUP BY 1
                """
            try await add(query, to: &counts)
        }
        let erased: PostgresQuery = """
            SELECT \(unescaped: Self.keyID(of: "subject_lookup")) AS key_id, count(*)::bigint AS count FROM erased_identities e
            WHERE \(prefix)::bytea IS NULL OR substr(subject_lookup, 1, octet_length(\(prefix)::bytea)) = \(prefix)::bytea
               OR NOT EXISTS (
                   SELECT FROM erased_identities o WHERE o.issuer = e.issuer AND o.erased_at = e.erased_at
                       AND substr(o.subject_lookup, 1, octet_length(\(prefix)::bytea)) = \(prefix)::bytea)
            GROUP BY 1
            """
        try await add(erased, to: &counts)
        return counts
    }

    private func add(_ query: PostgresQuery, to counts: inout [String: Int]) async throws(PostgresError) {
        for row in try await postgres.query(query.timeout(SealedValueRepository.countTimeout)) {
            counts[try row.decode("key_id"), default: 0] += Int(try row.decode("count", as: Int64.self))
        }
    }

    /// Deletes lookups of an account, and the photo hashes that are stored under them: no sign-in searches them any more, and an erasure
    /// would not find them.
    ///
    /// - Returns: The number of deleted lookups.
    public func delete(_ lookups: [[UInt8]], of owner: LookupOwner) async throws -> Int {
        try await postgres.withTransaction { transaction in
            guard owner.source == .emails else {
                return try await transaction.execute(
                    "DELETE FROM identities WHERE user_id = \(owner.id) AND subject_lookup = ANY(\(lookups))")
            }
            let deleted: [[UInt8]] = try await transaction.query(
                "DELETE FROM email_lookups WHERE user_id = \(owner.id) AND lookup = ANY(\(lookups)) RETURNING lookup"
            ).column("lookup")
            for lookup in deleted { try await FacePhotoHashRepository(transaction).deleteAll(of: AttemptKey.derive(from: lookup)) }
            return deleted.count
        }
    }

    /// SQL for the id of the key of a lookup: see `LookupKeys`.
    static func keyID(of lookup: String) -> String { "encode(substr(\(lookup), 2, get_byte(\(lookup), 0)), 'escape')" }
}
