public import FoundationEssentials

/// A notification has its deliveries, one for each installation, and they wait to be sent; travels on the stream of its lane.
public struct NotificationAddressed: Event {
    public static var type: EventType { .notificationAddressed }
    public static var groups: [String] { ["notifier"] }
    public static var streams: [String] { Lane.allCases.map(stream(of:)) }

    /// The maximum number of deliveries of one event; a notification for more installations is several events.
    public static let maxDeliveries = 500

    @WireUUID public var notificationID: UUID
    /// The deliveries to send, at most ``maxDeliveries``; empty when they are on a page.
    @WireUUIDs public var deliveryIDs: [UUID]
    /// The page of a fan-out that contains the deliveries, in place of their ids.
    public var page: AddressedPage?
    public var lane: Lane

    public var key: String { notificationID.wireString }
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: Lane) -> String { "\(type.rawValue).\(lane.rawValue)" }

    public init(notificationID: UUID, deliveryIDs: [UUID], lane: Lane) {
        self.notificationID = notificationID
        self.deliveryIDs = deliveryIDs
        self.lane = lane
    }

    public init(notificationID: UUID, page: AddressedPage, lane: Lane) {
        self.init(notificationID: notificationID, deliveryIDs: [], lane: lane)
        self.page = page
    }

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case deliveryIDs = "delivery_ids"
        case page, lane
    }
}
