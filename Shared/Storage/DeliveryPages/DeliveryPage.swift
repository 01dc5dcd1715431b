public import FoundationEssentials
public import WireFormat

/// A page of a fan-out: up to ``membersMax`` deliveries of one notification that share a row of `delivery_pages`.
///
/// A delivery parts from its page when there is more to say of it than that FCM accepted it: it has a row of its own in
/// `deliveries` from then on, under the same id.
public enum DeliveryPage {
    /// The most deliveries of a page.
    public static let membersMax = 500

    /// Makes the id of a new page: a UUID of version 8 (RFC 9562), ordered by the time it was made as those of version 7 are, whose
    /// last 16 bits are the number of a delivery, and zero for the page itself.
    static func makeID() -> UUID {
        var bytes = UUIDv7.generate().uuid
        bytes.6 = bytes.6 & 0x0F | 0x80
        (bytes.14, bytes.15) = (0, 0)
        return UUID(uuid: bytes)
    }

    /// The id of a delivery of a page.
    ///
    /// - Parameter number: From 1 to ``membersMax``.
    static func deliveryID(_ number: Int, of pageID: UUID) -> UUID {
        var bytes = pageID.uuid
        (bytes.14, bytes.15) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: bytes)
    }

    /// Where a delivery that began on a page has its place; nil for one that never was on any.
    static func place(of deliveryID: UUID) -> (pageID: UUID, number: Int)? {
        var bytes = deliveryID.uuid
        guard bytes.6 >> 4 == 8 else { return nil }
        let number = Int(bytes.14) << 8 | Int(bytes.15)
        guard (1...membersMax).contains(number) else { return nil }
        (bytes.14, bytes.15) = (0, 0)
        return (UUID(uuid: bytes), number)
    }
}

/// A page to insert; it waits for its first sender.
public struct NewDeliveryPage: Sendable {
    /// The id.
    public let id: UUID
    /// What is told.
    public let notificationID: UUID
    /// The lane of the notification.
    public let lane: Lane
    /// The installations, which have users; those of a page are best of neighbours in the order of the users' ids.
    public let addresses: [InstallAddress]

    /// Makes pages of a notification for some installations, which have users.
    public static func pages(of notificationID: UUID, on lane: Lane, to addresses: [InstallAddress]) -> [NewDeliveryPage] {
        let members = addresses.filter { $0.userID != nil }
        return stride(from: 0, to: members.count, by: DeliveryPage.membersMax).map { start in
            NewDeliveryPage(
                id: DeliveryPage.makeID(), notificationID: notificationID, lane: lane,
                addresses: Array(members[start..<min(start + DeliveryPage.membersMax, members.count)]))
        }
    }
}
