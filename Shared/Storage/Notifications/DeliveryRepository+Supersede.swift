public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension DeliveryRepository {
    /// How long a delivery has to have waited before a newer one may take its place. Less is no backlog, but two things that
    /// happened one after the other.
    public static let supersedeAge = Duration.seconds(2)

    /// How many messages of a conversation are pushed, however long they have waited.
    public static let messagesKept = 10

    /// How many older notifications of a topic are looked at, the newest first.
    private static let olderMax = 20

    /// The kinds of which only the newest is worth sending to somebody who was not told yet.
    ///
    /// New photos: each push says the same of the same event. Chat messages: an installation that pushes have not reached
    /// for seconds (FCM does not answer, or the quota is used up) is told of the newest ``messagesKept``, with the true number of unread
    /// ones on its badge, and not of an hour's in a burst once it goes on; what was said is in the conversation itself. The result
    /// of a job or of a face session is about one thing each, and none takes the place of another.
    private static let replaceableKinds = [NotificationKind.chatMessage, .newPhotos]

    /// Ends deliveries that new ones make needless: of the same kind, for the same topic, to the same installation, never
    /// tried, and waiting for more than ``supersedeAge``: `pending → skipped`. What a sender is just taking is left to it.
    /// Belongs in the transaction that inserts the new ones.
    ///
    /// - Parameter installIDs: The installations to which there are new ones, by what is told.
    /// - Returns: The notifications of those that were ended; they may have none left under way.
    public func supersede(by installIDs: [UUID: [UUID]], code: String) async throws(PostgresError) -> Set<UUID> {
        let older = try await openOlder(than: Set(installIDs.keys))
        guard !older.isEmpty else { return [] }
        let pages = DeliveryPageRepository(db)
        for (new, old) in older { try await pages.takeApart(notificationIDs: old, touching: installIDs[new] ?? []) }
        // One row an older notification and new delivery, each found by the ledger's own key: few, as there are few older ones.
        let pairs = older.flatMap { new, old in (installIDs[new] ?? []).flatMap { id in old.map { (old: $0, install: id) } } }
        let rows = try await db.query(
            """
            UPDATE deliveries SET state = 'skipped', code = \(code), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT d.id FROM unnest(\(pairs.map(\.old)), \(pairs.map(\.install))) AS old (notification_id, install_id)
                CROSS JOIN LATERAL (
                    SELECT id FROM deliveries
                    WHERE notification_id = old.notification_id AND install_id = old.install_id AND state = 'pending'
                      AND attempt = 0 AND NOT \(unescaped: Self.isHeld)
                      AND created_at < now() - make_interval(secs => \(Self.supersedeAge.inSeconds))
                    FOR UPDATE SKIP LOCKED) d)
            RETURNING notification_id
            """)
        let ended = try Self.counts(rows)
        try await countEnded(ended)
        return Set(ended.keys)
    }

    /// Returns what a topic was told before, of the same kind, and has not been told to the end: by the newer notification. Of those
    /// that one transaction inserted, at one time, their ids say which is the newer: they are of version 7.
    ///
    /// Most often there is none, and that is known from a glance at the index of what is open: a fan-out of many pages must not
    /// look through its own deliveries for those of others.
    private func openOlder(than ids: Set<UUID>) async throws(PostgresError) -> [UUID: [UUID]] {
        guard !ids.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT n.id AS newer, o.id AS older FROM notifications n
            CROSS JOIN LATERAL (
                SELECT id FROM notifications
                WHERE recipient_id = n.recipient_id AND state IN ('requested', 'addressed') AND recipient_type = 'topic'
                  AND kind = n.kind AND (created_at, id) < (n.created_at, n.id)
                ORDER BY created_at DESC, id DESC
                OFFSET CASE WHEN n.kind = 'chat_message' THEN \(unescaped: "\(Self.messagesKept - 1)") ELSE 0 END
                LIMIT \(unescaped: "\(Self.olderMax)")) o
            WHERE n.id = ANY(\(Array(ids))) AND n.recipient_type = 'topic'
              AND n.kind = ANY(\(Self.replaceableKinds.map(\.rawValue)))
            """
        var older: [UUID: [UUID]] = [:]
        for row in try await db.query(query) {
            older[try row.decode("newer"), default: []].append(try row.decode("older"))
        }
        return older
    }
}
