public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A notification with claimed deliveries, which share this object.
public final class ClaimedNotification: Sendable {
    /// The id.
    public let id: UUID
    /// The kind.
    public let kind: NotificationKind
    /// The recipient.
    public let recipient: NotificationRecipient
    /// The lane.
    public let lane: Lane
    /// The parameters of the text.
    public let parameters: [String: String]
    /// The request that led to it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When it expires.
    public let expiresAt: Date

    fileprivate init(id: UUID, row: PostgresRow) throws(PostgresError) {
        self.id = id
        kind = try row.decodeCase("kind")
        recipient = NotificationRecipient(
            type: try row.decodeCase("recipient_type"), id: try row.decode("recipient_id"))
        lane = try row.decodeCase("lane")
        parameters = try row.decodeJSON("parameters")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
        expiresAt = try row.decode("expires_at")
    }
}

/// A delivery that the caller holds until its lease ends, with all data needed to send it.
///
/// A class, because it is passed on many times, and a copy of a struct would retain each of its parts.
public final class ClaimedDelivery: Sendable {
    /// The installation to send to.
    public struct Target: Sendable, Equatable {
        /// Whether the value is a token or an installation id.
        public let kind: PushTarget.Kind
        /// HMAC of the installation; part of the sealing context.
        public let installationKey: [UInt8]
        /// The value, sealed with `SealingContext.pushInstall`.
        public let valueSealed: [UInt8]
        /// `ios`, `android` or `web`, when known.
        public let platform: String?
        /// The user signed in on it.
        public let userID: UUID?
        /// Whether the installation is suspect: its next push decides whether it is dead.
        public let isSuspect: Bool

        fileprivate init(row: PostgresRow) throws(PostgresError) {
            kind = try row.decodeCase("target_kind")
            installationKey = try row.decode("installation_key")
            valueSealed = try row.decode("value_sealed")
            platform = try row.decode("platform")
            userID = try row.decode("user_id")
            isSuspect = try row.decode("is_suspect")
        }
    }

    /// The id.
    public let id: UUID
    /// The notification; the same object for all its deliveries of a claim.
    public let notification: ClaimedNotification
    /// The installation.
    public let installID: UUID
    /// The number of claims, including this one.
    public let attempt: Int
    /// Whether an earlier attempt may have reached the phone: its answer was lost, or its sender crashed.
    public let mayHaveArrived: Bool
    /// The installation's generation to send to.
    public let generation: Int64
    /// The lease that it shares with a batch; `nil` when the delivery or its page has its own lease.
    public let leaseID: UUID?
    /// When the lease ends.
    public let leaseUntil: Date
    /// When the delivery was created.
    public let createdAt: Date
    /// The installation to send to; `nil` when the delivery must not be sent: settle it as `skipped`, with ``skipCode``.
    public let target: Target?
    /// The reason not to send it; `nil` with a ``target``.
    ///
    /// `expired`: the notification has expired (settle it as `expired`). `no_installation`: the installation is deleted, dead, or has
    /// passed to another user. `job_gone`: its image job is deleted or expired. `not_a_member`: the delivery has waited, and its user
    /// has left the topic. `presence`: the conversation is on that installation's screen. `not_invited`: its invitation has ended.
    public let skipCode: String?

    /// Reads the rows of a claim; only the first row of a notification has its parameters.
    static func read(_ rows: PostgresRows) throws(PostgresError) -> [ClaimedDelivery] {
        var notifications: [UUID: ClaimedNotification] = [:]
        for row in rows {
            guard let _: String = try row.decode("parameters", as: String?.self) else { continue }
            let id: UUID = try row.decode("notification_id")
            notifications[id] = try ClaimedNotification(id: id, row: row)
        }
        return try rows.map { row throws(PostgresError) in
            let id: UUID = try row.decode("notification_id")
            guard let notification = notifications[id] else {
                throw PostgresError(code: .decoding, message: "a claim returned a delivery without its notification")
            }
            return try ClaimedDelivery(row: row, notification)
        }
    }

    private init(row: PostgresRow, _ notification: ClaimedNotification) throws(PostgresError) {
        self.notification = notification
        id = try row.decode("id")
        installID = try row.decode("install_id")
        attempt = Int(try row.decode("attempt", as: Int32.self))
        mayHaveArrived = try row.decode("may_have_arrived")
        generation = try row.decode("generation")
        leaseID = try row.decode("lease_id")
        leaseUntil = try row.decode("lease_until")
        createdAt = try row.decode("created_at")
        skipCode = try row.decode("skip_code")
        target = skipCode == nil ? try Target(row: row) : nil
    }

    /// Reads the deliveries of a page; the page's own row has the columns that they share.
    static func read(_ rows: PostgresRows, onPage page: PostgresRow) throws(PostgresError) -> [ClaimedDelivery] {
        let notification = try ClaimedNotification(id: try page.decode("notification_id"), row: page)
        let id: UUID = try page.decode("id")
        let attempt = Int(try page.decode("attempt", as: Int32.self))
        let (leaseUntil, createdAt) = (
            try page.decode("lease_until", as: Date.self), try page.decode("created_at", as: Date.self)
        )
        let skipCode: String? = try page.decode("skip_code")
        return try rows.map { row throws(PostgresError) in
            try ClaimedDelivery(
                row: row, notification, pageID: id, attempt: attempt, leaseUntil: leaseUntil, createdAt: createdAt,
                skipCode: skipCode)
        }
    }

    private init(
        row: PostgresRow, _ notification: ClaimedNotification, pageID: UUID, attempt: Int, leaseUntil: Date, createdAt: Date,
        skipCode: String?
    ) throws(PostgresError) {
        self.notification = notification
        id = DeliveryPage.deliveryID(try row.decode("number"), of: pageID)
        installID = try row.decode("install_id")
        self.attempt = attempt
        // A page is claimed again as a whole only when its sender has crashed.
        mayHaveArrived = attempt > 1
        generation = try row.decode("generation")
        leaseID = nil
        self.leaseUntil = leaseUntil
        self.createdAt = createdAt
        let ownCode: String? = try row.decode("skip_code")
        self.skipCode = skipCode ?? ownCode
        target = self.skipCode == nil ? try Target(row: row) : nil
    }
}
