public import FoundationEssentials
public import WireFormat

extension Session {
    /// How long the result is worth pushing, in seconds: later, the app has asked for it.
    private static let notificationLife: TimeInterval = 60 * 60

    /// What makes the push about a session's result one, whoever asks for it.
    static func notificationKey(of id: UUID) -> String { "ekyc:\(id.wireString)" }

    /// Asks for the push that tells how the session ended, on the device that began it.
    ///
    /// It names the account only to a device that has proven to be the account's: by a bearer, or by its success. Every other
    /// push carries the session's pseudonym, whether the e-mail is known or not.
    ///
    /// - Parameter account: The account whose face a successful session enrolled or recognised; `nil` when it changed nothing.
    public func resultNotification(
        succeeded: Bool, account: UUID?, pseudonyms: SessionPseudonyms
    ) -> NotificationRequested {
        let named = authorised ? userID : succeeded ? account : nil
        return NotificationRequested(
            dedupeKey: Self.notificationKey(of: id), kind: event == .signUp ? .signUp : .signIn, recipient: .session(id),
            lane: .urgent,
            parameters: [
                "success": succeeded ? "true" : "false", "session_id": id.wireString,
                "user_id": (named ?? pseudonyms.id(of: id)).wireString, "event": event.rawValue,
            ],
            expiresAt: Date(timeIntervalSinceNow: Self.notificationLife))
    }
}
