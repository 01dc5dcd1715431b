internal import WireFormat

/// The subject and the text of an e-mail.
///
/// A mail has no link: a person who learns to follow links in such mails is easily deceived by a forged one.
struct MailText: Sendable, Equatable {
    let subject: String
    let body: String

    private init(_ subject: String, _ paragraphs: String...) { self.init(subject, paragraphs) }

    init(_ subject: String, _ paragraphs: [String]) {
        self.subject = subject
        body = paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// A mail about something that happened to the account.
    init(about kind: MailKind) {
        switch kind {
        case .verificationCode:
            preconditionFailure("codes have texts of their own")
        case .recoveryStarted:
            self.init(
                "The recovery of your account has begun",
                "Somebody who reads your mail asked to replace the face of your account. It will be replaced in 24 hours.",
                "If it was not you, cancel it in the app on a device that is signed in, and change the password of your mailbox.")
        case .recoveryCompleted:
            self.init(
                "Your account was recovered",
                "The face of your account was replaced, as was asked for by mail 24 hours ago. All devices were signed out.",
                "Sign in with your face.")
        case .emailChangeRequested:
            self.init(
                "Your e-mail address is about to change",
                "Another e-mail address was named for your account. It counts as soon as the code that was mailed to it is entered.",
                "If it was not you, sign out all devices in the app and sign in again with your face.")
        case .emailChanged:
            self.init(
                "Your e-mail address was changed",
                "Another e-mail address counts for your account now, and this one does not any more. All other devices were signed out.",
                "If it was not you, write to the support of the app at once: with this address you can neither sign in nor recover the "
                    + "account any more.")
        }
    }
}
