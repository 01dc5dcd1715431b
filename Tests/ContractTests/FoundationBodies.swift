import Foundation
import Push
import WireFormat

/// The body of a `notification.requested` about a failed job as Foundation codes it, for comparison.
struct FoundationRequest: Codable, Equatable {
    struct Content: Codable, Equatable {
        var jobID, reason: String

        enum CodingKeys: String, CodingKey {
            case jobID = "job_id"
            case reason
        }
    }

    struct Recipient: Codable, Equatable {
        var type, id: String
    }

    var notificationID, dedupeKey, kind, lane: String
    var recipient: Recipient
    var content: Content
    var expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case dedupeKey = "dedupe_key"
        case kind, lane, recipient, content
        case expiresAt = "expires_at"
    }

    init?(_ event: NotificationRequested) {
        guard case .jobFailed(let push) = event.content else { return nil }
        content = Content(jobID: push.jobID.wireString, reason: push.reason)
        notificationID = event.notificationID.wireString
        (dedupeKey, kind, lane) = (event.dedupeKey, event.kind.rawValue, event.lane.rawValue)
        recipient = Recipient(type: event.recipient.type.rawValue, id: event.recipient.id)
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
