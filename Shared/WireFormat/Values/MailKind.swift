/// The kind of an e-mail; each kind has its own text, and its own meaning of the event's subject.
public enum MailKind: String, BodyWord {
    /// Codes that prove an e-mail address; the subject is the mail, a row of `code_mails`.
    case verificationCode = "verification_code"
    /// A replacement of the account's face was requested by e-mail and waits; the subject is the account.
    case recoveryStarted = "recovery_started"
    /// The account's face was replaced after that wait; the subject is the account.
    case recoveryCompleted = "recovery_completed"
    /// Another e-mail address was named for the account and waits for its code; the subject is the account.
    case emailChangeRequested = "email_change_requested"
    /// It counts now, and the former one does not: a mail to the former one; the subject is the verification.
    case emailChanged = "email_changed"
}
