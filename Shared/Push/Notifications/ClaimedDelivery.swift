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
    /// The content; nil when it was erased with a user.
    public let content: PushContent?
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
        content = try row.decodeContent(of: kind)
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
    /// The number of claims, including this claim: a later claim ends it.
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
        /// The value, sealed with ``PushInstall/sealingContext(installationKey:)``.
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
    /// Whether an earlier attempt may have reached the phone: its answer was lost, or its sender crashed.
    public let mayHaveArrived: Bool
    /// The installation's generation to send to.
    public let generation: Int64
    /// When the delivery was created.
    public let createdAt: Date
    /// The installation to send to; `nil` when the delivery must not be sent.
    public let target: Target?
    /// The reason not to send it; `nil` with a ``target``.
    public let suppression: Suppression?

    /// The number of claims, including this one.
    public var attempt: Int { claim.attempt }

    /// Reads claimed deliveries.
    ///
    /// - Parameters:
    ///   - rows: One row for each delivery.
    ///   - claimed: One row for each claimed page, or for each delivery with a row of its own. The first row of a notification has the
    ///     notification's columns.
    /// - Throws: ``PostgresError`` with code `decoding` also when a delivery was not claimed.
    static func read(_ rows: PostgresRows, of claimed: PostgresRows) throws(PostgresError) -> [ClaimedDelivery] {
        var notifications: [UUID: ClaimedNotification] = [:]
        var byID: [UUID: ClaimedRow] = [:]
        for row in claimed {
            let id: UUID = try row.decode("notification_id")
            if try row.decode("kind", as: String?.self) != nil { notifications[id] = try ClaimedNotification(id: id, row: row) }
            // A notification that is gone has no deliveries to send.
            if let notification = notifications[id] { byID[try row.decode("id")] = try ClaimedRow(row: row, of: notification) }
        }
        var deliveries: [ClaimedDelivery] = []
        deliveries.reserveCapacity(rows.count)
        var current: ClaimedRow?
        for row in rows {
            let id: UUID = try row.decode("id")
            // The deliveries of a page follow each other.
            if current?.id != id { current = byID[id] }
            guard let current else { throw PostgresError(code: .decoding, message: "a delivery of a row that was not claimed") }
            deliveries.append(try ClaimedDelivery(row: row, of: current))
        }
        return deliveries
    }

    private init(row: PostgresRow, of claimed: ClaimedRow) throws(PostgresError) {
        let number: Int64? = try row.decode("number")
        id = number.map { DeliveryPage.deliveryID(Int($0), of: claimed.id) } ?? claimed.id
        notification = claimed.notification
        claim = DeliveryClaim(rowID: claimed.id, isPage: number != nil, attempt: claimed.attempt)
        mayHaveArrived = claimed.mayHaveArrived
        createdAt = claimed.createdAt
        installID = try row.decode("install_id")
        generation = try row.decode("generation")
        suppression = try row.decodeCaseIfPresent("suppression")
        target = suppression == nil ? try Target(row: row) : nil
    }
}

/// A claimed page, or a claimed delivery with a row of its own.
private struct ClaimedRow {
    let id: UUID
    let notification: ClaimedNotification
    let attempt: Int
    let mayHaveArrived: Bool
    let createdAt: Date

    init(row: PostgresRow, of notification: ClaimedNotification) throws(PostgresError) {
        id = try row.decode("id")
        self.notification = notification
        attempt = Int(try row.decode("attempt", as: Int32.self))
        mayHaveArrived = try row.decode("may_have_arrived")
        createdAt = try row.decode("created_at")
    }
}
