public import FoundationEssentials
public import JSON

/// A page of a notification's deliveries, one for each installation, waits to be sent; travels on the stream of its lane.
public struct NotificationAddressed: Event {
    public static var type: EventType { .notificationAddressed }
    public static var groups: [String] { ["notifier"] }
    public static var streams: [String] { Lane.allCases.map(stream(of:)) }

    public var notificationID: UUID
    /// The row of the deliveries in the database.
    public var pageID: UUID
    /// The number of the page's deliveries, at most 500; a notification for more installations is several events.
    public var count: Int
    public var lane: Lane

    public var key: String { notificationID.wireString }
    public var stream: String { Self.stream(of: lane) }

    /// The name of the stream of a lane.
    public static func stream(of lane: Lane) -> String { "\(type.rawValue).\(lane.rawValue)" }

    public init(notificationID: UUID, pageID: UUID, count: Int, lane: Lane) {
        self.notificationID = notificationID
        self.pageID = pageID
        self.count = count
        self.lane = lane
    }

    public init(from body: BodyReader) throws(BodyFault) {
        count = try body.read("count")
        lane = try body.read("lane")
        notificationID = try body.read("notification_id")
        pageID = try body.read("page_id")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("count", count)
        body.member("lane", lane)
        body.member("notification_id", notificationID)
        body.member("page_id", pageID)
    }
}
