import FoundationEssentials
import JSON

/// A push as the phone shows it: the common part of a message, overridden by the part of the platform.
struct Card: Sendable, Equatable {
    /// The id by which the phone replaces cards: a new card takes the place of the card with the same id.
    let id: String
    let title: String
    let body: String
    let image: String?
    let badge: Int?
    /// Whether the phone wakes the app without a visible notification.
    let isSilent: Bool
    let received: ReceivedMessage
    /// Number of earlier pushes this one replaced.
    var replaced = 0

    init(_ received: ReceivedMessage) {
        let message = received.message
        let common = message["notification"]
        let own: JSONValue?
        let collapse: String?
        if received.platform == .android {
            own = message["android"]?["notification"]
            collapse = own?["tag"]?.string
            badge = own?["notification_count"]?.integer
            image = own?["image"]?.string ?? common?["image"]?.string
        } else {
            let aps = message["apns"]?["payload"]?["aps"]
            own = aps?["alert"].map { $0.string.map { ["body": .string($0)] } ?? $0 }
            collapse = message["apns"]?["headers"]?.strings.first { $0.key.lowercased() == "apns-collapse-id" }?.value
            badge = aps?["badge"]?.integer
            image = message["apns"]?["fcm_options"]?["image"]?.string ?? common?["image"]?.string
        }
        title = own?["title"]?.string ?? common?["title"]?.string ?? ""
        body = own?["body"]?.string ?? common?["body"]?.string ?? ""
        isSilent = title.isEmpty && body.isEmpty
        // A collapse id belongs to one app on one phone.
        id = collapse.map { "\(received.registration ?? "topic")|\($0)" } ?? received.name
        self.received = received
    }

    /// The JSON that the inbox page receives.
    func json(senderID: String) -> JSONValue {
        let message = received.message
        let aps = message["apns"]?["payload"]?["aps"]
        return [
            "id": .string(id), "name": .string(received.name), "received_at": .string(RFC3339.string(received.receivedAt)),
            "registration": received.registration.map(JSONValue.string) ?? nil,
            "target": .string(message["topic"]?.string ?? message["condition"]?.string ?? ""),
            "platform": received.platform.map { .string($0.rawValue) } ?? nil,
            "title": .string(title), "body": .string(body), "image": image.map(JSONValue.string) ?? nil,
            "badge": badge.map(JSONValue.integer) ?? nil, "silent": .bool(isSilent), "replaced": .integer(replaced),
            "category": aps?["category"] ?? nil, "thread": aps?["thread-id"] ?? nil,
            "data": message["data"] ?? [:], "message": message,
            "apns": received.platform == .ios ? ApnsView(received, senderID: senderID).json : .null,
        ]
    }
}
