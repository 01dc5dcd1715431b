import Foundation
import WireFormat

/// The body of `notification.requested` as Foundation codes it, for comparison.
struct FoundationRequest: Codable, Equatable {
    struct Recipient: Codable, Equatable {
        var type, id: String
    }

    var notificationID, dedupeKey, kind, lane: String
    var recipient: Recipient
    var parameters: [String: String]
    var expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case dedupeKey = "dedupe_key"
        case kind, lane, recipient, parameters
        case expiresAt = "expires_at"
    }

    init(_ event: NotificationRequested) {
        notificationID = event.notificationID.wireString
        (dedupeKey, kind, lane) = (event.dedupeKey, event.kind.rawValue, event.lane.rawValue)
        recipient = Recipient(type: event.recipient.type.rawValue, id: event.recipient.id)
        parameters = event.parameters
        expiresAt = event.expiresAt.millisecondsSince1970
    }
}

/// The body of `image.progress` as Foundation decodes it.
struct FoundationProgress: Decodable, Equatable {
    var state: String
    var percent: Int

    init(_ event: ImageProgress) {
        (state, percent) = (event.state.rawValue, event.percent)
    }
}
