public import FoundationEssentials
public import PostgresClient
internal import Schema
internal import WireFormat

/// Reads and writes `erasures` and `erasure_reports`.
public struct ErasureRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client; ``begin(_:)``, ``add(_:to:by:)`` and ``lockReported(services:)`` belong into a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db.withTimeLimit(Erasure.statementTimeout)
    }

    /// Begins an erasure. After the transaction, the account cannot be found by its e-mail or its identity provider, and its sessions are
    /// not undecided any more. The caller ends its sign-ins.
    ///
    /// - Returns: Whether it has begun; `false` when there is no such account, or an erasure of it is under way.
    public func begin(_ new: NewErasure) async throws(PostgresError) -> Bool {
        let isAccount = new.scope == .account
        try await db.enqueue("SELECT FROM users WHERE id = \(new.userID) FOR UPDATE")
        let lookups: [[UInt8]] = try await db.query("SELECT lookup FROM email_lookups WHERE user_id = \(new.userID)").column("lookup")
        let found = isAccount ? try await close(new.userID) : try await endSignIns(new.userID)
        guard found == 1 else { return false }
        var deleted: [String: Int] = [:]
        if isAccount, !lookups.isEmpty {
            try await db.enqueue("DELETE FROM email_lookups WHERE user_id = \(new.userID)")
            deleted = try await takeVerifications(of: lookups, to: new.userID)
        }
        // A worker that examines one of these sessions now finds it decided, and writes nothing.
        try await db.execute(
            """
            UPDATE sessions SET state = 'expired', reason = 'timeout', retryable = false, completed_at = now(), email_lookups = NULL,
                email_sealed = NULL
            WHERE user_id = \(new.userID) AND state IN ('received', 'processing')
            """)
        // A pending face would become the account's face after the request.
        deleted["pending_enrolments", default: 0] += try await AccountErasureRepository(db).deletePendingFaces(of: new.userID)
        // After the sessions: a face that a worker has enrolled in the meantime is older than the request.
        let begun = try await db.execute(
            """
            INSERT INTO erasures (id, scope, user_id, attempt_keys, subject_hash, token_hash, requested_by, requested_at)
            VALUES (\(new.id), \(new.scope.rawValue), \(new.userID), \(lookups.map(AttemptKey.derive(from:))),
                    sha256(uuid_send(\(new.userID)::uuid)), \(new.tokenHash), \(new.requestedBy.rawValue), clock_timestamp())
            ON CONFLICT (user_id, scope) WHERE user_id IS NOT NULL DO NOTHING
            """)
        guard begun == 1 else { return false }
        for (table, count) in deleted { try await add(count, of: table, to: new.id, by: ServiceRole.identityAPI.rawValue) }
        if isAccount {
            try await db.execute(
                """
                WITH gone AS (DELETE FROM identities WHERE user_id = \(new.userID) RETURNING issuer, subject_lookup)
                INSERT INTO erased_identities (issuer, subject_lookup, erased_at) SELECT issuer, subject_lookup, now() FROM gone
                ON CONFLICT (issuer, subject_lookup) DO UPDATE SET erased_at = excluded.erased_at
                """)
        }
        return true
    }

    /// Makes an account unfindable; returns 1 unless it is closed already or unknown.
    private func close(_ userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE users SET state = 'erasing', email_sealed = NULL, subject_sealed = NULL, display_name_sealed = NULL
            WHERE id = \(userID) AND state = 'active'
            """)
    }

    /// Ends the sign-ins of an account whose face is erased; returns 1 unless it is closed or unknown, or its face is being erased.
    private func endSignIns(_ userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE users SET sign_ins_ended_at = clock_timestamp() WHERE id = \(userID) AND state = 'active'
                AND NOT EXISTS (SELECT FROM erasures WHERE user_id = \(userID) AND scope = 'face')
            """)
    }

    /// Deletes the verifications of an e-mail, with the mails and the faces that wait for them, and gives their sessions to the account,
    /// with which they are erased: the photos may be of the same person.
    ///
    /// - Returns: The numbers of deleted rows by table.
    private func takeVerifications(of emailLookups: [[UInt8]], to userID: UUID) async throws(PostgresError) -> [String: Int] {
        // Before the verifications: a transaction that publishes a mail locks the rows in this order.
        let mails = try await db.execute("DELETE FROM code_mails WHERE email_lookups && \(emailLookups)")
        let row = try await db.query(
            """
            WITH proofs AS (DELETE FROM email_verifications WHERE email_lookups && \(emailLookups) RETURNING id),
            faces AS (DELETE FROM pending_enrolments WHERE id IN (SELECT id FROM proofs) RETURNING id),
            taken AS (
                UPDATE sessions SET user_id = \(userID)
                WHERE id IN (
                    SELECT id FROM sessions WHERE state IN ('received', 'processing') AND email_lookups && \(emailLookups)
                    UNION ALL SELECT id FROM proofs
                    UNION ALL SELECT s.id FROM sessions s JOIN proofs p ON s.verification_id = p.id))
            SELECT (SELECT count(*) FROM proofs) AS proofs, (SELECT count(*) FROM faces) AS faces
            """
        ).required()
        // Another account may have had the address until a day ago, and its change names it.
        try await db.execute(
            """
            UPDATE email_verifications SET former_email_lookups = NULL, former_email_sealed = NULL
            WHERE former_email_lookups && \(emailLookups)
            """)
        return ["code_mails": mails, "email_verifications": try row.decode("proofs"), "pending_enrolments": try row.decode("faces")]
    }

    /// Returns an erasure that is under way.
    public func find(id: UUID) async throws(PostgresError) -> Erasure? {
        try await db.query(
            """
            SELECT id, scope, user_id, attempt_keys, subject_hash, requested_at FROM erasures WHERE id = \(id) AND completed_at IS NULL
            """
        ).first.map(Erasure.init(row:))
    }

    /// Adds to the numbers that a service reports.
    ///
    /// - Parameter what: A table, or a folder of the blob store.
    public func add(_ count: Int, of what: String, to erasure: UUID, by service: String) async throws(PostgresError) {
        guard count > 0 else { return }
        try await db.enqueue(
            """
            INSERT INTO erasure_reports AS r (erasure_id, service, counts)
            VALUES (\(erasure), \(service), jsonb_build_object(\(what)::text, \(count)::bigint))
            ON CONFLICT (erasure_id, service) DO UPDATE
            SET counts = r.counts || jsonb_build_object(\(what)::text, coalesce((r.counts->>\(what)::text)::bigint, 0) + \(count)::bigint)
            """)
    }

    /// Records that a service has erased everything of the user.
    public func finish(_ erasure: UUID, by service: String) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO erasure_reports (erasure_id, service, finished_at) VALUES (\(erasure), \(service), now())
            ON CONFLICT (erasure_id, service) DO UPDATE SET finished_at = now()
            """)
    }

    /// Takes erasures that lack the report of a service and whose event was published more than `age` ago: the caller publishes the event
    /// again. No other instance takes them within `age`.
    public func takeUnreported(services: [String], olderThan age: Duration, limit: Int) async throws(PostgresError) -> [UUID] {
        try await db.query(
            """
            UPDATE erasures SET published_at = now() WHERE id IN (
                SELECT id FROM erasures e
                WHERE completed_at IS NULL AND published_at < now() - make_interval(secs => \(age / .seconds(1)))
                  AND (SELECT count(*) FROM erasure_reports r
                       WHERE r.erasure_id = e.id AND r.service = ANY(\(services)) AND r.finished_at IS NOT NULL) < \(services.count)
                ORDER BY published_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING id
            """
        ).column("id")
    }

    /// Locks an erasure for which all services have reported, unless another transaction holds it. The erasure of an account waits for the
    /// erasure of its face, which still names the account.
    ///
    /// - Parameter age: The minimum age of the erasure: before it, requests that were authenticated before the erasure may still be in
    ///   progress.
    public func lockReported(
        services: [String], olderThan age: Duration, except: [UUID]
    ) async throws(PostgresError) -> Erasure? {
        try await db.query(
            """
            SELECT * FROM erasures e
            WHERE completed_at IS NULL AND requested_at < now() - make_interval(secs => \(age / .seconds(1))) AND id <> ALL(\(except))
              AND (SELECT count(*) FROM erasure_reports r
                   WHERE r.erasure_id = e.id AND r.service = ANY(\(services)) AND r.finished_at IS NOT NULL) = \(services.count)
              AND (scope = 'face' OR NOT EXISTS (SELECT FROM erasures f WHERE f.user_id = e.user_id AND f.scope = 'face'))
            ORDER BY requested_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first.map(Erasure.init(row:))
    }

    /// Removes the services' reports that they have erased everything: data was added since.
    public func reopen(_ erasure: UUID) async throws(PostgresError) {
        try await db.execute("UPDATE erasure_reports SET finished_at = NULL WHERE erasure_id = \(erasure)")
        try await db.execute("UPDATE erasures SET published_at = '-infinity' WHERE id = \(erasure)")
    }

    /// Returns the state of an erasure.
    ///
    /// - Parameter tokenHash: SHA-256 of the token that reads the receipt; `nil` for an operator.
    public func status(id: UUID, tokenHash: [UInt8]?) async throws(PostgresError) -> ErasureStatus? {
        let rows = try await db.query(
            """
            SELECT e.*, coalesce((SELECT jsonb_agg(jsonb_build_object('service', service, 'counts', counts, 'finishedAt',
                                      extract(epoch FROM finished_at)) ORDER BY service)
                                  FROM erasure_reports WHERE erasure_id = e.id), '[]')::text AS reports
            FROM erasures e WHERE id = \(id) AND (\(tokenHash)::bytea IS NULL OR token_hash = \(tokenHash)::bytea)
            """)
        return try rows.first.map(ErasureStatus.init(row:))
    }

    /// Returns the newest erasures, those under way first.
    ///
    /// - Parameter person: The person whose erasures are returned; nil for all.
    public func list(of person: ErasedPerson? = nil, limit: Int) async throws(PostgresError) -> [ErasureStatus] {
        try await db.query(
            """
            SELECT e.*, coalesce((SELECT jsonb_agg(jsonb_build_object('service', service, 'counts', counts, 'finishedAt',
                                      extract(epoch FROM finished_at)) ORDER BY service)
                                  FROM erasure_reports WHERE erasure_id = e.id), '[]')::text AS reports
            FROM erasures e
            WHERE (\(person == nil) OR subject_hash = sha256(uuid_send(\(person?.userID)::uuid))
                   OR attempt_keys && \(person?.attemptKeys ?? []))
            ORDER BY completed_at DESC NULLS FIRST, requested_at DESC LIMIT \(limit)
            """
        ).map(ErasureStatus.init(row:))
    }

    /// Returns the number of erasures under way, and the age of the oldest in seconds.
    public func open() async throws(PostgresError) -> (count: Int, oldestSeconds: Double) {
        let row = try await db.query(
            """
            SELECT count(*) AS count, coalesce(extract(epoch FROM now() - min(requested_at)), 0)::float8 AS age
            FROM erasures WHERE completed_at IS NULL
            """
        ).required()
        return (try row.decode("count"), try row.decode("age"))
    }
}

extension ErasureStatus {
    private struct Report: Decodable {
        let service: String
        let counts: [String: Int]
        let finishedAt: Double?
    }

    init(row: PostgresRow) throws(PostgresError) {
        let reports = try row.decodeJSON("reports", as: [Report].self)
        self.init(
            id: try row.decode("id"), scope: try row.decodeCase("scope"), requestedAt: try row.decode("requested_at"),
            completedAt: try row.decode("completed_at"), receipt: try row.decode("receipt"),
            reports: reports.map {
                ErasureReport(
                    service: $0.service, counts: $0.counts, finishedAt: $0.finishedAt.map(Date.init(timeIntervalSince1970:)))
            })
    }
}
