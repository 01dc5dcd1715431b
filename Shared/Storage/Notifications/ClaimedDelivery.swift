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

/// A claim of a page, or of a delivery with a row of its own: a sender's right to send until its lease ends.
public struct DeliveryClaim: Sendable, Hashable {
    /// The id of the page or of the delivery.
    public let rowID: UUID
    /// Whether it is a page.
    public let isPage: Bool
    /// The number of claims, including this one: a later claim ends this one.
    public let attempt: Int
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
    /// The claim, which it shares with the other deliveries of its page unless it has a row of its own.
    public let claim: DeliveryClaim
    /// The installation.
    public let installID: UUID
    /// The number of claims, including this one.
    public let attempt: Int
    /// Whether an earlier attempt may have reached the phone: its answer was lost, or its sender crashed.
    public let mayHaveArrived: Bool
    /// The installation's generation to send to.
    public let generation: Int64
    /// When the lease ends.
    public let leaseUntil: Date
    /// When the delivery was created.
    public let createdAt: Date
    /// The installation to send to; `nil` when the delivery must not be sent.
    public let target: Target?
    /// The reason not to send it; `nil` with a ``target``.
    public let suppression: Suppression?

    /// Reads the rows of a claim; only the first of adjacent rows of a notification has its columns.
    static func read(_ rows: PostgresRows) throws(PostgresError) -> [ClaimedDelivery] {
        var notifications: [UUID: ClaimedNotification] = [:]
        for row in rows {
            guard let _: String = try row.decode("parameters", as: String?.self) else { continue }
            let id: UUID = try row.decode("notification_id")
            if notifications[id] == nil { notifications[id] = try ClaimedNotification(id: id, row: row) }
        }
        return try rows.map { row throws(PostgresError) in
            guard let notification = notifications[try row.decode("notification_id")] else {
                throw PostgresError(code: .decoding, message: "a claim returned a delivery without its notification")
            }
            return try ClaimedDelivery(row: row, notification)
        }
    }

    private init(row: PostgresRow, _ notification: ClaimedNotification) throws(PostgresError) {
        self.notification = notification
        let rowID: UUID = try row.decode("id")
        let number: Int64? = try row.decode("number")
        id = number.map { DeliveryPage.deliveryID(Int($0), of: rowID) } ?? rowID
        installID = try row.decode("install_id")
        attempt = Int(try row.decode("attempt", as: Int32.self))
        claim = DeliveryClaim(rowID: rowID, isPage: number != nil, attempt: attempt)
        mayHaveArrived = try row.decode("may_have_arrived")
        generation = try row.decode("generation")
        leaseUntil = try row.decode("lease_until")
        createdAt = try row.decode("created_at")
        suppression = try row.decodeCaseIfPresent("suppression")
        target = suppression == nil ? try Target(row: row) : nil
    }
}
