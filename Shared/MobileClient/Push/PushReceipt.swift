/// An event of a push on this phone, as the client reports it to the API (`POST /v1/notifications/receipts`).
///
/// Public only as a part of ``PushClient``; the API counts each once a device.
struct PushReceipt: Hashable, Sendable, Codable {
    /// The event.
    enum Event: String, Sendable, Codable, CaseIterable {
        case delivered
        case opened
        case dismissed
        /// It was not shown, because its conversation was on the screen.
        case suppressed
    }

    /// The field with which the API finds the push.
    enum Subject: String, Sendable, Codable, CaseIterable {
        case notification = "notification_id"
        case message = "message_id"
        case job = "job_id"
        case session = "session_id"
        case event = "event_id"
    }

    let subject: Subject
    let id: String
    let event: Event
    /// Seconds since 1970.
    let at: Double

    /// Equal for two receipts that the API counts as one. Safe as the name of a file: ids have no other characters than
    /// ``isAllowed(_:_:)``.
    var key: String { "\(subject.rawValue)-\(event.rawValue)-\(id)" }

    /// Nil when the API would refuse the id, and the whole request with it.
    init?(_ subject: Subject, _ id: String, _ event: Event, at: Double) {
        // From 1970 to 2100: other values come from a damaged file, because the API has no such instants.
        guard Self.isAllowed(subject, id), (0...4_102_444_800).contains(at) else { return nil }
        self.subject = subject
        self.id = id
        self.event = event
        self.at = at
    }

    /// The receipt of a push; nil for kinds whose receipts the API does not count.
    init?(_ message: PushMessage, _ event: Event, at: Double) {
        let subject: (Subject, String)? =
            switch message.kind {
            case .job(let job): (.job, job.id.lowercased())
            case .ekyc(let result): (.session, result.sessionID)
            case .newPhotos(let eventID): (.event, eventID)
            case .chatMessage(let message): message.messageID.map { (.message, $0) }
            case .app(let push): (.notification, push.notificationID.lowercased())
            case .invitation, .signInConfirmation, .accountAlert, .possessionCheck, .badge, .unknown: nil
            }
        guard let (field, id) = subject else { return nil }
        self.init(field, id, event, at: at)
    }

    /// The ids that the server's `ReceiptBody` accepts.
    static func isAllowed(_ subject: Subject, _ id: String) -> Bool {
        switch subject {
        case .notification, .job, .session: isUUID(id)
        case .message: (1...48).contains(id.utf8.count) && PushMessage.Kind.isID(id)
        case .event: (1...64).contains(id.utf8.count) && PushMessage.Kind.isID(id) && !id.contains(".")
        }
    }

    private static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                switch (index, bytes[index]) {
                case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")), (23, UInt8(ascii: "-")): true
                case (8, _), (13, _), (18, _), (23, _): false
                case (_, UInt8(ascii: "0")...UInt8(ascii: "9")), (_, UInt8(ascii: "a")...UInt8(ascii: "f")): true
                default: false
                }
            }
    }
}
