internal import FoundationEssentials
public import WireFormat

extension Session {
    /// How long the result is worth pushing, in seconds: later, the app has asked for it.
    private static let notificationLife: TimeInterval = 60 * 60

    /// What makes the push about a session's result one, whoever asks for it.
    static func notificationKey(of id: UUID) -> String { "ekyc:\(id.wireString)" }

    /// Asks for the push that tells how the session ended, on the device that began it.
    public func resultNotification(succeeded: Bool) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.notificationKey(of: id), kind: event == .signUp ? .signUp : .signIn, recipient: .session(id),
            lane: .urgent,
            parameters: [
                "success": succeeded ? "true" : "false", "session_id": id.wireString, "user_id": userID.wireString,
                "event": event.rawValue,
            ],
            expiresAt: Date(timeIntervalSinceNow: Self.notificationLife))
    }
}
