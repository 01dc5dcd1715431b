internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
internal import WireFormat

/// A notification of an app's own server with everything that the request left open: its id, its lane and its times.
struct AppNotificationOrder: Sendable {
    /// The lifetime of a notification without `expires_at`.
    private static let usualLifetime: TimeInterval = 24 * 60 * 60

    let id: UUID
    let body: AppNotificationBody
    let service: ServiceIdentity
    let lane: Lane
    let notBefore: Date
    let expiresAt: Date
    let isScheduled: Bool

    /// Completes a request.
    ///
    /// - Throws: `invalid_request` for times that are out of range; `forbidden` for an urgent one without the scope.
    init(_ body: AppNotificationBody, by service: ServiceIdentity, now: Date = Date()) throws(APIError) {
        id = UUIDv7.generate()
        self.body = body
        self.service = service
        lane = body.lane ?? (body.topic == nil ? .normal : .bulk)
        guard lane != .urgent || service.scopes.contains(.notifyUrgently) else {
            throw APIError(.forbidden, "The lane urgent needs the scope \(ServiceScope.notifyUrgently.rawValue)", field: "lane")
        }
        let due = max(body.notBefore ?? now, now)
        guard due <= now.addingTimeInterval(AppNotification.maxDelay / .seconds(1)) else {
            throw APIError(.invalidRequest, "A notification waits for up to 30 days", field: "not_before")
        }
        let end = body.expiresAt ?? due.addingTimeInterval(Self.usualLifetime)
        guard end > due, end <= due.addingTimeInterval(AppNotification.maxLifetime / .seconds(1)) else {
            throw APIError(.invalidRequest, "A notification expires after it is due, within 28 days", field: "expires_at")
        }
        (notBefore, expiresAt, isScheduled) = (due, end, due > now)
    }

    /// The keyed hashes of the request, one for each key; the first one is stored. A repetition is a request that has the stored hash among
    /// its own.
    func fingerprints(_ keys: AccountKeys) throws -> [[UInt8]] {
        keys.fingerprints(of: "app_notification:" + (try Self.json(body)))
    }

    /// The event to publish when the notification is due; one event for all recipients.
    ///
    /// - Parameter topicID: The topic that has the name now.
    func request(_ keys: AccountKeys, topicID: UUID?) throws -> NotificationRequested {
        var content = body.content
        // Apps do not replace each other's notifications.
        content.collapseKey = content.collapseKey.map { "\(service.app):\($0)" }
        let push = CustomPush(
            app: try keys.sealedForPush(try Self.json(content), .appContent, of: id), topicID: topicID, hasPicture: content.image != nil)
        return push.request(id, to: body.topic.map { .topic($0) } ?? .list(id), lane: lane, expiresAt: expiresAt)
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
