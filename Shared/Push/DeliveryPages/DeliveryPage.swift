public import FoundationEssentials
public import WireFormat

/// A page: up to ``maxMembers`` deliveries of one notification that share a row of `delivery_pages`, one event and one lease.
///
/// Every delivery begins on a page, also that of a notification with one recipient. An acceptance by FCM is stored on the page. For any
/// other outcome, a delivery is detached from its page: from then on it has its own row in `deliveries`, with the same id.
public enum DeliveryPage {
    /// The most deliveries of a page.
    public static let maxMembers = 500

    /// Makes the id of a new page: a UUID of version 8 (RFC 9562) that is ordered by time as version 7 is. Its last 16 bits are the
    /// number of a delivery, and zero for the page itself.
    package static func makeID() -> UUID {
        var bytes = UUIDv7.generate().uuid
        bytes.6 = bytes.6 & 0x0F | 0x80
        (bytes.14, bytes.15) = (0, 0)
        return UUID(uuid: bytes)
    }

    /// Returns the id of a delivery of a page.
    ///
    /// - Parameter number: From 1 to ``maxMembers``.
    public static func deliveryID(_ number: Int, of pageID: UUID) -> UUID {
        var bytes = pageID.uuid
        (bytes.14, bytes.15) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: bytes)
    }

    /// Returns the page and number of a delivery that was created on a page; nil for other deliveries.
    public static func place(of deliveryID: UUID) -> (pageID: UUID, number: Int)? {
        var bytes = deliveryID.uuid
        guard bytes.6 >> 4 == 8 else { return nil }
        let number = Int(bytes.14) << 8 | Int(bytes.15)
        guard (1...maxMembers).contains(number) else { return nil }
        (bytes.14, bytes.15) = (0, 0)
        return (UUID(uuid: bytes), number)
    }
}

/// A page that was inserted.
public struct AddressedPage: Sendable {
    /// The id.
    public let id: UUID
    /// The number of its deliveries.
    public let count: Int

    package init(id: UUID, count: Int) {
        self.id = id
        self.count = count
    }
}

/// A page to insert; it starts as `pending`.
public struct NewDeliveryPage: Sendable {
    /// The id.
    public let id: UUID
    /// The notification.
    public let notificationID: UUID
    /// The lane of the notification.
    public let lane: Lane
    /// The installations.
    public let addresses: [InstallAddress]

    /// The page, once it is inserted.
    public var addressed: AddressedPage { AddressedPage(id: id, count: addresses.count) }

    /// The least and the greatest id of the installations' users; nil when one has no user.
    var userRange: ClosedRange<UUID>? {
        let users = addresses.compactMap(\.userID)
        guard users.count == addresses.count, let first = users.min(), let last = users.max() else { return nil }
        return first...last
    }

    /// Makes the pages of a notification for installations.
    public static func pages(of notificationID: UUID, on lane: Lane, to addresses: [InstallAddress]) -> [NewDeliveryPage] {
        stride(from: 0, to: addresses.count, by: DeliveryPage.maxMembers).map { start in
            NewDeliveryPage(
                id: DeliveryPage.makeID(), notificationID: notificationID, lane: lane,
                addresses: Array(addresses[start..<min(start + DeliveryPage.maxMembers, addresses.count)]))
        }
    }
}
