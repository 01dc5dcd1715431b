public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `notification_receipts` and `image_job_reads`.
public struct ReceiptRepository: Sendable {
    /// The time for which triggers of fetches are kept; receipts are deleted with their notifications.
    public static let readLifetime: Duration = .seconds(30 * 24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Records receipts of a user's device, each event of a push once. Ignores receipts for unknown pushes and for pushes of other users.
    ///
    /// A push is the user's if it was sent to one of the user's installations, or was addressed to the user or one of the user's
    /// sessions.
    ///
    /// - Parameter installationKey: The reporting device, when known.
    /// - Returns: The new receipts.
    public func record(
        _ receipts: [Receipt], userID: UUID, installationKey: [UInt8]?
    ) async throws(PostgresError) -> [RecordedReceipt] {
        let found = try await notifications(of: receipts, userID: userID)
        let ofEvents = try await pushes(of: receipts)
        let told = zip(receipts, ofEvents).compactMap { receipt, push in
            (push ?? found[receipt.subject]).map { (id: $0, receipt: receipt) }
        }
        guard !told.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH told AS (
                SELECT * FROM unnest(\(told.map(\.id)), \(told.map(\.receipt.event.rawValue)), \(told.map(\.receipt.at)))
                    AS t (told_id, told_event, told_at)
            ), mine AS (
                SELECT n.id, n.kind, n.has_picture, told_event, least(greatest(told_at, n.created_at), now()) AS told_at,
                       CASE WHEN sent.installation_key = \(installationKey) THEN sent.id ELSE \(userID) END AS reporter
                FROM told JOIN notifications n ON n.id = told_id
                LEFT JOIN LATERAL (
                    SELECT i.id, i.installation_key FROM push_installs i
                    WHERE i.user_id = \(userID) AND (
                        EXISTS (SELECT FROM deliveries d WHERE d.notification_id = n.id AND d.install_id = i.id)
                        OR EXISTS (
                            SELECT FROM delivery_pages p
                            WHERE p.notification_id = n.id
                              AND (p.first_user_id IS NULL OR i.user_id BETWEEN p.first_user_id AND p.last_user_id)
                              AND i.id = ANY(p.install_ids)))
                    ORDER BY (i.installation_key = \(installationKey)) DESC NULLS LAST LIMIT 1
                ) sent ON true
                WHERE sent.id IS NOT NULL OR (n.recipient_type = 'user' AND n.recipient_id = \(userID.wireString))
                   OR EXISTS (
                       SELECT FROM sessions s
                       WHERE s.id = CASE WHEN n.recipient_type = 'session' THEN n.recipient_id::uuid END
                         AND s.user_id = \(userID))
            ), noted AS (
                INSERT INTO notification_receipts (notification_id, reporter_id, event, user_id, at)
                SELECT id, reporter, told_event, \(userID), min(told_at) FROM mine GROUP BY id, reporter, told_event
                ORDER BY id, reporter, told_event
                ON CONFLICT DO NOTHING
                RETURNING notification_id, event
            )
            SELECT n.kind, n.has_picture, noted.event FROM noted JOIN notifications n ON n.id = notification_id
            """)
        return try rows.map { row throws(PostgresError) in
            RecordedReceipt(
                kind: try row.decodeCase("kind"), hasPicture: try row.decode("has_picture"), event: try row.decodeCase("event"))
        }
    }

    /// Records the trigger of a client's fetch of an image job's outcome.
    ///
    /// - Parameter trigger: `push`, `poll` or `launch`.
    /// - Returns: Whether it is the first fetch with this trigger.
    public func recordRead(jobID: UUID, trigger: String) async throws(PostgresError) -> Bool {
        try await db.execute(
            "INSERT INTO image_job_reads (job_id, trigger) VALUES (\(jobID), \(trigger)) ON CONFLICT DO NOTHING") == 1
    }

    /// Deletes at most `limit` reads older than ``readLifetime``.
    ///
    /// - Returns: The number of deleted reads.
    @discardableResult
    public func deleteExpiredReads(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM image_job_reads WHERE (job_id, trigger) IN (
                SELECT job_id, trigger FROM image_job_reads
                WHERE at <= now() - make_interval(secs => \(Self.readLifetime / .seconds(1)))
                ORDER BY at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Finds the notifications of the receipts' subjects, of any user; unknown subjects are omitted.
    private func notifications(of receipts: [Receipt], userID: UUID) async throws(PostgresError) -> [Receipt.Subject: UUID] {
        var found: [Receipt.Subject: UUID] = [:]
        var keys: [String: Receipt.Subject] = [:]
        var messages: [String] = []
        for receipt in receipts {
            switch receipt.subject {
            case .notification(let id): found[receipt.subject] = id
            case .imageJob(let id): keys[JobCompletedPush.dedupeKey(about: id)] = receipt.subject
            case .session(let id): keys[SignInPush.dedupeKey(about: id)] = receipt.subject
            case .message(let id): messages.append(id)
            case .event: break
            }
        }
        for (id, notification) in try await notifications(ofMessages: messages, seenBy: userID) { found[.message(id)] = notification }
        guard !keys.isEmpty else { return found }
        let query: PostgresQuery = "SELECT id, dedupe_key FROM notifications WHERE dedupe_key = ANY(\(Array(keys.keys)))"
        for row in try await db.query(query.readOnly()) {
            guard let subject = keys[try row.decode("dedupe_key")] else { continue }
            found[subject] = try row.decode("id")
        }
        return found
    }

    /// Finds the notifications of messages, in the conversations that this user is a member of.
    private func notifications(ofMessages ids: [String], seenBy userID: UUID) async throws(PostgresError) -> [(String, UUID)] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT c.message_id, c.notification_id FROM conversation_messages c
            JOIN topic_members m ON m.topic_id = c.topic_id AND m.user_id = \(userID)
            WHERE c.message_id = ANY(\(ids))
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            (try row.decode("message_id"), try row.decode("notification_id"))
        }
    }

    /// Finds the pushes of receipts about events, one for each receipt, nil for other subjects: the newest push before the receipt's
    /// time, or the newest of all when the device's clock is behind. Both are one index lookup.
    private func pushes(of receipts: [Receipt]) async throws(PostgresError) -> [UUID?] {
        var found = [UUID?](repeating: nil, count: receipts.count)
        var (places, names, times): ([Int], [String], [Date]) = ([], [], [])
        for (place, receipt) in receipts.enumerated() {
            guard case .event(let name) = receipt.subject else { continue }
            places.append(place)
            names.append(name.text)
            times.append(receipt.at)
        }
        guard !places.isEmpty else { return found }
        let photos = NotificationKind.newPhotos.rawValue
        let query: PostgresQuery = """
            SELECT place, coalesce(before.id, newest.id) AS id
            FROM unnest(\(places), \(names), \(times)) AS told (place, name, told_at)
            LEFT JOIN LATERAL (
                SELECT id FROM notifications
                WHERE recipient_type = 'topic' AND recipient_id = name AND kind = \(photos) AND created_at <= told_at
                ORDER BY created_at DESC LIMIT 1) before ON true
            LEFT JOIN LATERAL (
                SELECT id FROM notifications
                WHERE before.id IS NULL AND recipient_type = 'topic' AND recipient_id = name AND kind = 'new_photos'
                ORDER BY created_at DESC LIMIT 1) newest ON true
            """
        for row in try await db.query(query.readOnly()) { found[try row.decode("place")] = try row.decode("id") }
        return found
    }
}
