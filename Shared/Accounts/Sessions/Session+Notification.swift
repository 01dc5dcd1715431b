public import FoundationEssentials
public import Push
internal import WireFormat

extension Session {
    /// Makes the request for the push of the session's outcome to the device that began it.
    ///
    /// The push contains the account's id only if the device has proven that it belongs to the account: by a bearer token, or by
    /// the session's success. Every other push contains the session's pseudonym, whether the e-mail is known or not.
    ///
    /// - Parameter account: The account whose face a successful session enrolled or recognised; `nil` when the session changed no account.
    public func resultNotification(
        succeeded: Bool, account: UUID?, pseudonyms: SessionPseudonyms
    ) -> NotificationRequested {
        let userID = (authorised ? self.userID : succeeded ? account : nil) ?? pseudonyms.id(of: id)
        switch event {
        case .signUp: return SignUpPush(sessionID: id, userID: userID, succeeded: succeeded).request()
        case .signIn: return SignInPush(sessionID: id, userID: userID, succeeded: succeeded).request()
        }
    }
}
