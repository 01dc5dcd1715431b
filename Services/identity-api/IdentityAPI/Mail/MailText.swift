internal import Storage
internal import WireFormat

/// The subject and the text of an e-mail.
///
/// A mail has no link: a person who learns to follow links in such mails is easily deceived by a forged one.
struct MailText: Sendable, Equatable {
    let subject: String
    let body: String

    private init(_ subject: String, _ paragraphs: String...) {
        self.subject = subject
        body = paragraphs.joined(separator: "\n\n") + "\n"
    }

    /// The mail with a code.
    ///
    /// - Parameter hasAccount: Whether the address has an account, which only its owner may learn, and learns by this mail.
    static func code(_ code: String, for purpose: EmailVerification.Purpose, hasAccount: Bool) -> MailText {
        let ignore = "If you did not ask for it, ignore this mail, and do not pass the code on: without it nothing happens."
        let entry = "Your code is \(code). It is valid for 10 minutes. Enter it in the app that you asked for it."
        return switch (purpose, hasAccount) {
        case (.emailChange, false):
            MailText("\(code) is your code", "This address was named as the new e-mail address of an account.", entry, ignore)
        case (_, false):
            MailText("\(code) is your code", "This address was used to sign up.", entry, ignore)
        case (.registration, true):
            MailText(
                "Somebody signed up with your address",
                "This address was used to sign up, but it has an account already. You can sign in with your face.",
                "If your face is no longer recognised, you can recover the account with this code: \(code). It is valid for 10 minutes.",
                ignore)
        case (_, true):
            MailText(
                "Somebody used your address",
                "This address was named in an app, but it has an account already. Nothing has changed: you can sign in with your face.",
                "If it was not you, ignore this mail.")
        }
    }

    /// A mail about something that happened to the account.
    init(about kind: MailKind) {
        switch kind {
        case .verificationCode:
            preconditionFailure("a code has a text of its own")
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
