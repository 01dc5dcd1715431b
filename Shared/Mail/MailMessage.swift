/// A mail of plain text to one person.
public struct MailMessage: Sendable {
    /// The address of the recipient, without a name and without brackets.
    public var to: String
    /// The subject, in one line of at most ``maxSubjectByteCount`` bytes.
    public var subject: String
    /// The text: lines of any length that end with `\n`, at most ``maxTextByteCount`` bytes.
    public var text: String
    /// The left part of the `Message-ID`: at most ``maxIDByteCount`` letters, digits, `-`, `_` and `.`. A repetition has the id of the
    /// first attempt, so that mailboxes can recognise it.
    public var id: String

    /// The greatest length of an address in bytes: a path of RFC 5321 § 4.5.3.1.3 without its brackets.
    public static let maxAddressByteCount = 254
    /// The greatest length of a subject, in bytes.
    public static let maxSubjectByteCount = 500
    /// The greatest length of a text, in bytes.
    public static let maxTextByteCount = 64 * 1024
    /// The greatest length of an id, in bytes.
    public static let maxIDByteCount = 64

    /// Makes a mail; it is checked when it is sent.
    public init(to: String, subject: String, text: String, id: String) {
        self.to = to
        self.subject = subject
        self.text = text
        self.id = id
    }
}

/// Sends mails.
public protocol MailSender: Sendable {
    /// Whether addresses with characters beyond ASCII before the `@` can be sent to; nil while that is not known.
    var takesInternationalAddresses: Bool? { get }

    /// Returns once the mail server has taken the responsibility for a mail.
    ///
    /// - Throws: ``MailError``. Only ``MailError/Code/recipientRefused`` is final. After another error the mail may have been delivered
    ///   nevertheless: a repetition must have the same ``MailMessage/id``.
    func send(_ message: MailMessage) async throws(MailError)
}
