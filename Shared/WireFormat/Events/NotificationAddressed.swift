public import FoundationEssentials
public import JSON

/// A page of a notification's deliveries, one for each installation, waits to be sent; travels on the stream of its lane.
public struct NotificationAddressed: Event {
    /// `notification.addressed`, with which the name of every lane's stream begins.
    public static var type: EventType { .notificationAddressed }
    /// Only notifier, which claims the page's deliveries and sends them.
    public static var groups: [String] { ["notifier"] }
    /// One stream for each lane, such as `notification.addressed.urgent`.
    public static var streams: [String] { Lane.allCases.map(stream(of:)) }

    /// The notification that the page belongs to; `notifications.id`.
    public var notificationID: UUID
    /// The row of the deliveries in the database.
    public var pageID: UUID
    /// The number of the page's deliveries, at most 500; a notification for more installations is several events.
    public var count: Int
    /// The lane of the notification, which selects the stream.
    public var lane: Lane

    /// The id of the notification, so that its pages are published in order.
    public var key: String { notificationID.wireString }
    /// The stream of the event's ``lane``.
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: Lane) -> String { "\(type.rawValue).\(lane.rawValue)" }

    /// Creates the event about one page; `count` is the number of its deliveries.
    public init(notificationID: UUID, pageID: UUID, count: Int, lane: Lane) {
        self.notificationID = notificationID
        self.pageID = pageID
        self.count = count
        self.lane = lane
    }

    /// Reads `count`, `lane`, `notification_id` and `page_id`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        count = try body.read("count")
        lane = try body.read("lane")
        notificationID = try body.read("notification_id")
        pageID = try body.read("page_id")
    }

    /// Writes `count`, `lane`, `notification_id` and `page_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("count", count)
        body.member("lane", lane)
        body.member("notification_id", notificationID)
        body.member("page_id", pageID)
    }
}
