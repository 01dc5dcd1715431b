public import FoundationEssentials
public import WireFormat

extension Session {
    /// The time during which the result is worth a push, in seconds: later, the app has fetched it.
    private static let notificationLifetime: TimeInterval = 60 * 60

    /// The dedupe key of the push about a session's result: a second request for it has no effect.
    public static func notificationKey(of id: UUID) -> String { "ekyc:\(id.wireString)" }

    /// Makes the request for the push of the session's outcome to the device that began it.
    ///
    /// The push contains the account's id only if the device has proven that it belongs to the account: by a bearer token, or by
    /// the session's success. Every other push contains the session's pseudonym, whether the e-mail is known or not.
    ///
    /// - Parameter account: The account whose face a successful session enrolled or recognised; `nil` when the session changed no account.
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
            expiresAt: Date(timeIntervalSinceNow: Self.notificationLifetime))
    }
}
