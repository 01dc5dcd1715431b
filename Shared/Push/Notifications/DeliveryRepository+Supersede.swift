public import FoundationEssentials
public import PostgresClient

extension DeliveryRepository {
    /// The time that a delivery must have waited before a newer one supersedes it. A shorter wait is no backlog, but two events in
    /// quick succession.
    public static let supersedeAge = Duration.seconds(2)

    /// The most older notifications of a topic that are checked, the newest first.
    private static let maxOlder = 20

    /// The kinds of which only the newest notifications about a topic are sent to an installation that is waiting for pushes, and how
    /// many. Results of jobs and face sessions are about different subjects, so they do not supersede each other.
    private static let replaced = NotificationKind.allCases.compactMap { kind in
        kind.type.newestKept.map { (name: "'\(kind.rawValue)'", kept: $0) }
    }
    private static let replacedKinds = replaced.map(\.name).joined(separator: ", ")
    /// SQL expression for the number of older notifications of a kind that are sent beside the newer one.
    private static let olderKept = "CASE n.kind " + replaced.map { "WHEN \($0.name) THEN \($0.kept - 1) " }.joined() + "END"

    /// Skips deliveries that are superseded by new ones of the same kind, for the same topic, to the same installation, if they were
    /// never attempted and have waited for more than ``supersedeAge``: `pending → skipped`. Leaves deliveries alone that a sender is
    /// claiming. Call in the transaction that inserts the new ones.
    ///
    /// - Parameter newPages: The pages of the new deliveries, by notification.
    /// - Returns: The notifications of the skipped deliveries; they may have no open deliveries left.
    public func supersede(by newPages: [UUID: [AddressedPage]], code: DeliveryCode) async throws(PostgresError) -> Set<UUID> {
        let older = try await openOlder(than: Set(newPages.keys))
        guard !older.isEmpty else { return [] }
        let installIDs = try await installations(on: older.keys.flatMap { newPages[$0] ?? [] }.map(\.id))
        let pages = DeliveryPageRepository(db)
        for (new, old) in older { try await pages.split(notificationIDs: old, touching: installIDs[new] ?? []) }
        // One row for each pair of older notification and new delivery, found by the unique key: few, as there are few older ones.
        let pairs = older.flatMap { new, old in (installIDs[new] ?? []).flatMap { id in old.map { (old: $0, install: id) } } }
        let rows = try await db.query(
            """
            UPDATE deliveries SET state = 'skipped', code = \(code.rawValue), due_at = NULL, settled_at = now()
            WHERE id IN (
                SELECT d.id FROM unnest(\(pairs.map(\.old)), \(pairs.map(\.install))) AS old (notification_id, install_id)
                CROSS JOIN LATERAL (
                    SELECT id FROM deliveries
                    WHERE notification_id = old.notification_id AND install_id = old.install_id AND state = 'pending'
                      AND attempt = 0
                      AND created_at < now() - make_interval(secs => \(Self.supersedeAge / .seconds(1)))
                    FOR UPDATE SKIP LOCKED) d)
            RETURNING notification_id
            """)
        let ended = try Self.counts(rows)
        try await countEnded(ended)
        return Set(ended.keys)
    }

    /// Returns the installations of pages, by notification.
    private func installations(on pageIDs: [UUID]) async throws(PostgresError) -> [UUID: [UUID]] {
        let query: PostgresQuery = "SELECT notification_id, install_ids FROM delivery_pages WHERE id = ANY(\(pageIDs))"
        var installIDs: [UUID: [UUID]] = [:]
        for row in try await db.query(query) {
            installIDs[try row.decode("notification_id"), default: []] += try row.decode("install_ids", as: [UUID].self)
        }
        return installIDs
    }

    /// Returns the older open notifications of the same topic and kind, keyed by the newer notification. Notifications that one transaction
    /// inserted have the same time and are ordered by their ids, which are UUIDs of version 7.
    ///
    /// Usually there are no such notifications, and one lookup in the index of open notifications shows it: a fan-out of many parts must
    /// not search all its own deliveries for older ones.
    private func openOlder(than ids: Set<UUID>) async throws(PostgresError) -> [UUID: [UUID]] {
        guard !ids.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT n.id AS newer, o.id AS older FROM notifications n
            CROSS JOIN LATERAL (
                SELECT id FROM notifications
                WHERE recipient_id = n.recipient_id AND state IN ('requested', 'addressed') AND recipient_type = 'topic'
                  AND kind = n.kind AND topic_id = n.topic_id AND (created_at, id) < (n.created_at, n.id)
                ORDER BY created_at DESC, id DESC OFFSET \(unescaped: Self.olderKept) LIMIT \(unescaped: "\(Self.maxOlder)")) o
            WHERE n.id = ANY(\(Array(ids))) AND n.recipient_type = 'topic' AND n.kind IN (\(unescaped: Self.replacedKinds))
            """
        var older: [UUID: [UUID]] = [:]
        for row in try await db.query(query) {
            older[try row.decode("newer"), default: []].append(try row.decode("older"))
        }
        return older
    }
}
