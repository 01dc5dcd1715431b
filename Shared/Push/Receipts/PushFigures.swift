public import FoundationEssentials
public import PostgresClient

/// Counts of the outcomes of the pushes of one kind.
public struct PushFigures: Sendable, Equatable {
    /// The kind of the notifications.
    public let kind: NotificationKind
    /// Whether the notifications have a picture.
    public let hasPicture: Bool
    /// Deliveries that FCM accepted.
    public var accepted = 0
    /// Deliveries to dead tokens.
    public var dead = 0
    /// Other deliveries that were not sent or not accepted, except deliveries for a device that showed the subject.
    public var unsent = 0
    /// Devices that reported any receipt but `suppressed`: an opened or dismissed push was also delivered.
    public var delivered = 0
    /// Devices that reported `opened`.
    public var opened = 0
    /// Devices that reported `dismissed`.
    public var dismissed = 0
    /// Deliveries that were skipped, and devices that showed no push, because the subject was on the screen.
    public var suppressed = 0

    /// Makes empty figures.
    public init(kind: NotificationKind, hasPicture: Bool) {
        self.kind = kind
        self.hasPicture = hasPicture
    }
}

extension ReceiptRepository {
    /// The code of a delivery that was skipped because the device showed its subject.
    private static let presenceCode = "presence"

    /// Counts the outcomes of the pushes requested since a time, by kind and by whether they have a picture.
    ///
    /// Reads every delivery since then: for an operator's query, not for a gauge.
    public func figures(since start: Date) async throws(PostgresError) -> [PushFigures] {
        // Reads each table once. With a lookup for each notification, a single notification with many receipts would raise the planner's
        // estimate so far that it reads all receipts for each notification.
        let query: PostgresQuery = """
            WITH recent AS MATERIALIZED (
                SELECT id, kind, has_picture FROM notifications WHERE created_at >= \(start)
            ), alone AS (
                SELECT kind, has_picture,
                       count(*) FILTER (WHERE state = 'accepted') AS accepted, count(*) FILTER (WHERE state = 'dead') AS dead,
                       count(*) FILTER (WHERE state = 'skipped' AND code = \(Self.presenceCode)) AS present,
                       count(*) FILTER (WHERE state IN ('failed', 'expired')
                                        OR (state = 'skipped' AND code IS DISTINCT FROM \(Self.presenceCode))) AS unsent
                FROM recent n LEFT JOIN deliveries d ON d.notification_id = n.id GROUP BY kind, has_picture
            ), paged AS (
                SELECT kind, has_picture, sum(bit_count(p.accepted)) AS accepted
                FROM recent n JOIN delivery_pages p ON p.notification_id = n.id GROUP BY kind, has_picture
            ), devices AS (
                SELECT kind, has_picture, bool_or(event <> 'suppressed') AS arrived, bool_or(event = 'opened') AS opened,
                       bool_or(event = 'dismissed') AS dismissed, bool_or(event = 'suppressed') AS suppressed
                FROM recent n JOIN notification_receipts r ON r.notification_id = n.id
                GROUP BY n.id, kind, has_picture, reporter_id
            ), told AS (
                SELECT kind, has_picture, count(*) FILTER (WHERE arrived) AS delivered, count(*) FILTER (WHERE opened) AS opened,
                       count(*) FILTER (WHERE dismissed) AS dismissed, count(*) FILTER (WHERE suppressed) AS suppressed
                FROM devices GROUP BY kind, has_picture
            )
            SELECT kind, has_picture, (alone.accepted + coalesce(paged.accepted, 0))::bigint AS accepted, dead, unsent,
                   coalesce(delivered, 0) AS delivered, coalesce(opened, 0) AS opened,
                   coalesce(dismissed, 0) AS dismissed, present + coalesce(suppressed, 0) AS suppressed
            FROM alone LEFT JOIN paged USING (kind, has_picture) LEFT JOIN told USING (kind, has_picture) ORDER BY kind, has_picture
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            var figures = PushFigures(kind: try row.decodeCase("kind"), hasPicture: try row.decode("has_picture"))
            figures.accepted = try row.decode("accepted")
            figures.dead = try row.decode("dead")
            figures.unsent = try row.decode("unsent")
            figures.delivered = try row.decode("delivered")
            figures.opened = try row.decode("opened")
            figures.dismissed = try row.decode("dismissed")
            figures.suppressed = try row.decode("suppressed")
            return figures
        }
    }

    /// Counts the image jobs whose outcome was fetched since a time, by the trigger of the first fetch.
    public func firstReads(since start: Date) async throws(PostgresError) -> [String: Int] {
        let query: PostgresQuery = """
            SELECT trigger, count(*) AS jobs FROM (
                SELECT DISTINCT ON (job_id) trigger FROM image_job_reads WHERE at >= \(start) ORDER BY job_id, at
            ) AS first GROUP BY trigger
            """
        var counts: [String: Int] = [:]
        for row in try await db.query(query.readOnly()) { counts[try row.decode("trigger")] = try row.decode("jobs") }
        return counts
    }
}
