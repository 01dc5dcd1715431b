public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// What the claimed deliveries of one notification share.
public final class ClaimedNotification: Sendable {
    /// What is told.
    public let id: UUID
    /// What the notification is about.
    public let kind: NotificationKind
    /// Whom the notification is for.
    public let recipient: NotificationRecipient
    /// How urgent it is.
    public let lane: Lane
    /// What the text is rendered from.
    public let parameters: [String: String]
    /// The request that led to it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When it is no longer worth telling.
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

/// A delivery that the caller holds until its lease ends, with all that is needed to send it.
///
/// An object, because it passes through many hands, and a copy of it would count a reference for each of its parts.
public final class ClaimedDelivery: Sendable {
    /// Where to send.
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
        /// Whether FCM called it dead when it was not to be believed: its next push decides.
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

    /// The delivery.
    public let id: UUID
    /// What is told; the same object for all deliveries of a claim that tell it.
    public let notification: ClaimedNotification
    /// To which installation.
    public let installID: UUID
    /// How often it was claimed, this time included.
    public let attempt: Int
    /// Whether an earlier attempt may have reached the phone: its answer was lost, or its sender died.
    public let mayHaveArrived: Bool
    /// The installation's generation that is sent to.
    public let generation: Int64
    /// The lease it is held by, with others; `nil` when it has one of its own, or its page has.
    public let leaseID: UUID?
    /// Until when the caller has it.
    public let leaseUntil: Date
    /// When it was addressed.
    public let createdAt: Date
    /// Where to send; `nil` when it is not to be sent: settle it as `skipped`, with ``skipCode``.
    public let target: Target?
    /// Why it is not to be sent; `nil` with a ``target``.
    ///
    /// `expired` when it is too late (settle it as `expired`); `no_installation` when the installation is gone, dead, or
    /// has passed to another user; `job_gone` when the job it tells of is deleted or expired; `not_a_member` when it
    /// has waited and its user has left the topic; `presence` when the conversation is on that installation's screen.
    public let skipCode: String?

    /// Reads the rows of a claim; the parameters of a notification stand in the first of its rows only.
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

    /// Reads the deliveries of a page, of which the page's own row says what they share.
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
        // A page is claimed again as a whole only when its sender has died.
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
