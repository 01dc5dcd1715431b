public import FoundationEssentials
public import PostgresClient

/// The recoveries whose time has come.
public struct DueRecoveries: Sendable, Equatable {
    /// The accounts that have the new face.
    public let completed: [UUID]
    /// The accounts whose e-mail is not the proven one any more: their recoveries have to be cancelled.
    public let outdated: [UUID]
}

/// Reads and writes `pending_enrolments`: enrolled faces that wait for a verification or for the end of a recovery.
public struct PendingEnrolmentRepository: Sendable {
    /// The time between the start of a recovery and its end, in which the devices of the account can cancel it: 24 hours.
    public static let recoveryDelay: Duration = .seconds(24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Inserts the first face of an account that does not exist yet; it waits for the verification of the same id.
    ///
    /// - Parameters:
    ///   - id: The session of the photos.
    ///   - face: The face, sealed for the id that the account gets.
    ///   - photos: The fingerprints of the photos for the id that the account gets.
    ///   - consent: The consent that came with the photos.
    ///   - refusesDuplicates: Whether it takes no effect while another account has the same face.
    public func insert(
        id: UUID, face: NewFaceTemplate, photos: [PhotoFingerprint], consent: Consent? = nil, refusesDuplicates: Bool = false
    ) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes,
                                            signatures, consent_version, consent_hash, consent_at, refuses_duplicates)
            VALUES (\(id), \(face.userID), \(face.modelID), \(Int32(face.pipelineVersion)), \(face.templateSealed),
                    \(photos.map(\.fileHash)), \(photos.map { $0.pixelHash ?? [] }), \(photos.map { $0.signature ?? [] }),
                    \(consent?.text.version), \(consent?.text.hash), \(consent?.givenAt), \(refusesDuplicates))
            """)
    }

    /// Starts the recovery of an account: the face replaces the account's after ``recoveryDelay``. A pending recovery is replaced, and its
    /// delay starts again.
    ///
    /// Call in a transaction that holds ``SignInRepository/lock(of:)``.
    ///
    /// - Parameters:
    ///   - emailLookups: The e-mail that was proven: the recovery takes effect only if the account has it then.
    ///   - id, face, photos, consent: See ``insert(id:face:photos:consent:)``; the face is sealed for the account.
    public func startRecovery(
        id: UUID, face: NewFaceTemplate, photos: [PhotoFingerprint], emailLookups: [[UInt8]], consent: Consent? = nil
    ) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes,
                                            signatures, consent_version, consent_hash, consent_at, email_lookups, due_at)
            VALUES (\(id), \(face.userID), \(face.modelID), \(Int32(face.pipelineVersion)), \(face.templateSealed),
                    \(photos.map(\.fileHash)), \(photos.map { $0.pixelHash ?? [] }), \(photos.map { $0.signature ?? [] }),
                    \(consent?.text.version), \(consent?.text.hash), \(consent?.givenAt), \(emailLookups),
                    now() + make_interval(secs => \(Self.recoveryDelay / .seconds(1))))
            ON CONFLICT (user_id) WHERE due_at IS NOT NULL DO UPDATE
            SET id = EXCLUDED.id, model_id = EXCLUDED.model_id, pipeline_version = EXCLUDED.pipeline_version,
                template_sealed = EXCLUDED.template_sealed, file_hashes = EXCLUDED.file_hashes,
                pixel_hashes = EXCLUDED.pixel_hashes, signatures = EXCLUDED.signatures, consent_version = EXCLUDED.consent_version,
                consent_hash = EXCLUDED.consent_hash, consent_at = EXCLUDED.consent_at, email_lookups = EXCLUDED.email_lookups,
                due_at = EXCLUDED.due_at, created_at = now()
            """)
    }

    /// The end of a face's wait for its proof.
    public enum Proven: Sendable {
        /// The account has the face.
        case enrolled
        /// No face was waiting.
        case nothing
        /// Another account has the face, and the sign-up refuses that; it waits on until it expires.
        case faceInUse
    }

    /// Serialises the transactions that enrol a face, if this deployment refuses duplicates: of two sign-ups with the same face, only the
    /// first takes effect. Call it before ``enrol(id:)``, and before ``EmailVerificationRepository/takeAttempt(id:)``, which locks a row
    /// that the holder of this lock may wait for.
    public func lock(id: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(\(unescaped: FaceDuplicateRepository.lockKey)) FROM pending_enrolments
            WHERE id = \(id) AND refuses_duplicates
            """)
    }

    /// Gives the account that was just created its first face.
    public func enrol(id: UUID) async throws(PostgresError) -> Proven {
        let duplicates = try await db.query(
            """
            SELECT FROM pending_enrolments p
            JOIN face_duplicates d ON p.user_id IN (d.user_id, d.other_id) AND d.state = 'open'
            JOIN face_templates t ON t.user_id IN (d.user_id, d.other_id) AND t.user_id <> p.user_id
            WHERE p.id = \(id) AND p.refuses_duplicates LIMIT 1
            """)
        guard duplicates.isEmpty else { return .faceInUse }
        return try await apply([id]).isEmpty ? .nothing : .enrolled
    }

    /// Replaces the faces of accounts whose recoveries are due. Call in a transaction, with the end of their sign-ins.
    ///
    /// Takes ``SignInRepository/lock(of:)`` of each account, and leaves accounts that another transaction has locked to the next call.
    ///
    /// - Returns: The accounts, at most `limit`.
    public func completeRecoveries(limit: Int) async throws(PostgresError) -> DueRecoveries {
        let held = try await db.query(
            """
            SELECT user_id FROM (SELECT user_id FROM pending_enrolments WHERE due_at <= now() ORDER BY due_at LIMIT \(limit)) due
            WHERE pg_try_advisory_xact_lock(hashtextextended('sign_ins:' || user_id::text, 0))
            """
        ).column("user_id", as: UUID.self)
        // Looked up once the locks are held: a recovery may have been cancelled, or the e-mail changed, before.
        let rows = try await db.query(
            """
            SELECT p.id, p.user_id,
                EXISTS (SELECT FROM email_lookups l WHERE l.user_id = p.user_id AND l.lookup = ANY(p.email_lookups)) AS is_proven
            FROM pending_enrolments p WHERE p.user_id = ANY(\(held)) AND p.due_at <= now()
            """)
        var (proven, outdated): ([UUID], [UUID]) = ([], [])
        for row in rows {
            if try row.decode("is_proven") { proven.append(try row.decode("id")) } else { outdated.append(try row.decode("user_id")) }
        }
        return DueRecoveries(completed: try await apply(proven), outdated: outdated)
    }

    /// Returns the end of the delay of an account's recovery; `nil` without a recovery.
    public func recovery(of userID: UUID) async throws(PostgresError) -> Date? {
        let query: PostgresQuery = "SELECT due_at FROM pending_enrolments WHERE user_id = \(userID) AND due_at IS NOT NULL"
        return try await db.query(query.readOnly()).first?.decode("due_at")
    }

    /// Ends the recovery of an account without effect.
    ///
    /// - Returns: Its id; `nil` when the account had no recovery.
    public func cancelRecovery(of userID: UUID) async throws(PostgresError) -> UUID? {
        try await db.query(
            "DELETE FROM pending_enrolments WHERE user_id = \(userID) AND due_at IS NOT NULL RETURNING id"
        ).first?.decode("id")
    }

    /// Deletes at most `limit` faces whose verification did not come within ``EmailVerificationRepository/lifetime``.
    ///
    /// - Returns: The number of deleted faces.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM pending_enrolments WHERE id IN (
                SELECT id FROM pending_enrolments
                WHERE due_at IS NULL
                  AND created_at <= now() - make_interval(secs => \(EmailVerificationRepository.lifetime / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Moves waiting faces to the accounts that exist, with the fingerprints of their photos and the consents that came with them.
    ///
    /// - Returns: The accounts.
    private func apply(_ ids: [UUID]) async throws(PostgresError) -> [UUID] {
        try await db.query(
            """
            WITH due AS (DELETE FROM pending_enrolments WHERE id = ANY(\(ids)) RETURNING *),
            hashes AS (
                INSERT INTO face_photo_hashes (user_id, file_hash, pixel_hash, signature, is_accepted)
                SELECT user_id, file_hash, nullif(pixel_hash, ''), \(unescaped: FacePhotoHashRepository.bits("signature")), true
                FROM due, unnest(file_hashes, pixel_hashes, signatures) AS given (file_hash, pixel_hash, signature)
                ON CONFLICT DO NOTHING),
            consented AS (
                INSERT INTO consents (id, user_id, version, text_hash, given_at)
                SELECT id, user_id, consent_version, consent_hash, consent_at FROM due
                WHERE consent_version IS NOT NULL AND EXISTS (SELECT FROM users WHERE id = due.user_id)
                ON CONFLICT (id) DO NOTHING)
            INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
            SELECT user_id, model_id, pipeline_version, template_sealed FROM due
            WHERE EXISTS (SELECT FROM users WHERE id = due.user_id)
            ON CONFLICT (user_id) DO UPDATE
            SET model_id = EXCLUDED.model_id, pipeline_version = EXCLUDED.pipeline_version,
                template_sealed = EXCLUDED.template_sealed, updated_at = now()
            RETURNING user_id
            """
        ).column("user_id")
    }
}
