internal import Push
internal import WireFormat

/// The texts of the pushes and their maximum lengths.
enum PushTexts {
    /// The most characters shown of a chat message.
    static let maxPreviewCharacters = 100
    /// The most characters of a name that comes from another service or user.
    static let maxNameCharacters = 100
    /// The most characters shown of the text of an app's own server.
    static let maxAppBodyCharacters = 400
    /// The most characters of a reason.
    static let maxReasonCharacters = 200

    /// The text in place of a name or a text that may not be shown.
    static let hiddenMessage = "New message"

    static func signUpBody(succeeded: Bool) -> String {
        succeeded ? "Face registration completed successfully." : "Face registration failed. Please try again."
    }

    static func signInBody(succeeded: Bool) -> String {
        succeeded ? "Face verification successful." : "Face verification failed. Please try again."
    }

    static func invitationBody(to topic: TopicName) -> String {
        switch topic.kind {
        case .event: "You have been invited to an event."
        case .conversation: "You have been invited to a conversation."
        }
    }

    /// The title and the body about a change to an account. They contain no data of the account, because another person may have the phone.
    static func accountAlert(_ alert: AccountAlert) -> (title: String, body: String) {
        switch alert {
        case .newSignIn:
            ("New sign-in", "Your account was used to sign in on another device. If it was not you, sign out all devices.")
        case .faceChanged:
            ("Face changed", "A face was enrolled for your account. If it was not you, sign out all devices and recover your account.")
        case .recoveryStarted:
            ("Account recovery started", "A recovery of your account was started. If it was not you, cancel it.")
        case .recoveryCancelled:
            ("Account recovery cancelled", "The recovery of your account was cancelled.")
        case .recoveryCompleted:
            ("Account recovered", "Your account was recovered. If it was not you, contact support.")
        case .emailChanged:
            ("E-mail changed", "The e-mail address of your account was changed. If it was not you, contact the support of this app.")
        }
    }

    /// The title about a sign-in that waits.
    static let confirmationTitle = "Sign-in on another device"
    /// The body about a sign-in that waits, without data of the account.
    static let confirmationBody = "Is it you? Confirm it with the letters that the other device shows. If it is not you, deny it."

    /// The most bytes per character on average: a single character can have dozens, and a message must fit 4 KB.
    private static let maxBytesPerCharacter = 8

    /// Cuts a text to a number of user-perceived characters; the last one is then an ellipsis.
    ///
    /// A text of characters with many bytes, such as family emoji, is cut earlier. A character is never split.
    static func cut(_ text: String, to maxCharacters: Int) -> String {
        let maxByteCount = maxCharacters * maxBytesPerCharacter
        if text.count <= maxCharacters, text.utf8.count <= maxByteCount { return text }
        var kept = text.prefix(maxCharacters - 1)
        while kept.utf8.count > maxByteCount - ellipsis.utf8.count { kept.removeLast() }
        return kept + ellipsis
    }

    private static let ellipsis = "…"
}
