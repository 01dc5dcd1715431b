public import FoundationEssentials
public import PostgresClient
internal import WireFormat

extension DeliveryRepository {
    /// How long a delivery has to have waited before a newer one may take its place. Less is no backlog, but two things that
    /// happened one after the other.
    public static let supersedeAge = Duration.seconds(2)

    /// How many waiting deliveries of an installation are looked at.
    private static let waitingMax = 100

    /// The kinds of which only the newest is worth sending to somebody who was not told yet.
    ///
    /// New photos: each push says the same of the same event. A chat message: an installation that pushes have not reached
    /// for seconds (FCM does not answer, or the quota is used up) is told of the newest, with the true number of unread ones
    /// on its badge, and not of each in a burst once it goes on; what was said is in the conversation itself. The result of a
    /// job or of a face session is about one thing each, and none takes the place of another.
    private static let replaceableKinds = [NotificationKind.chatMessage, .newPhotos]

    /// Ends deliveries that new ones make needless: of the same kind, for the same topic, to the same installation, never
    /// tried, and waiting for more than ``supersedeAge``: `pending → skipped`. What a sender is just taking is left to it.
    /// Belongs in the transaction that inserts the new ones.
    ///
    /// - Returns: The notifications of those that were ended; they may have none left under way.
    public func supersede(by batch: [NewDelivery], code: String) async throws(PostgresError) -> Set<UUID> {
        guard !batch.isEmpty else { return [] }
        let rows = try await db.query(
            """
            WITH waiting AS MATERIALIZED (
                SELECT d.id, d.notification_id, new.notification_id AS new_id
                FROM unnest(\(batch.map(\.notificationID)), \(batch.map(\.installID))) AS new (notification_id, install_id)
                CROSS JOIN LATERAL (
                    SELECT id, notification_id FROM deliveries
                    WHERE install_id = new.install_id AND state = 'pending' AND attempt = 0
                      AND created_at < now() - make_interval(secs => \(Self.supersedeAge.inSeconds))
                    LIMIT \(unescaped: "\(Self.waitingMax)")) d
            ), needless AS (
                SELECT waiting.id FROM waiting
                JOIN notifications n ON n.id = waiting.new_id AND n.recipient_type = 'topic'
                    AND n.kind = ANY(\(Self.replaceableKinds.map(\.rawValue)))
                JOIN notifications o ON o.id = waiting.notification_id AND o.kind = n.kind AND o.recipient_type = 'topic'
                    AND o.recipient_id = n.recipient_id AND o.created_at < n.created_at
            )
            UPDATE deliveries SET state = 'skipped', code = \(code), settled_at = now()
            WHERE id IN (
                SELECT id FROM deliveries WHERE id IN (SELECT id FROM needless) AND state = 'pending'
                FOR UPDATE SKIP LOCKED)
            RETURNING notification_id AS id
            """)
        return Set(try rows.map { row throws(PostgresError) in try row.decode("id", as: UUID.self) })
    }
}
