internal import FoundationEssentials
internal import HTTPClient

/// Renders mails as servers take them (RFC 5322 with MIME): plain text in UTF-8, CRLF at the ends of lines.
enum MailRenderer {
    /// Returns the bytes of a mail; libcurl doubles the dots at the beginning of lines.
    ///
    /// - Throws: ``MailError/Code/recipientRefused`` when the mail is invalid. In particular no header can be added: its fields have no
    ///   control characters.
    static func render(_ message: MailMessage, from: MailAddress, date: Date) throws(MailError) -> [UInt8] {
        if let fault = fault(of: message) { throw MailError(.recipientRefused, fault) }
        let fields = [
            ("Date", self.date(date)),
            ("From", "\(EncodedWords.phrase(from.name, after: 6))<\(MailAddress.path(of: from.address))>"),
            ("To", "<\(MailAddress.path(of: message.to))>"),
            ("Subject", EncodedWords.unstructured(message.subject, after: 9)),
            ("Message-ID", "<\(message.id)@\(from.domain)>"),
            // RFC 3834: no out-of-office notes in answer.
            ("Auto-Submitted", "auto-generated"),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "quoted-printable"),
        ]
        let head = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array(head.utf8) + [0x0D, 0x0A] + QuotedPrintable.encode(message.text)
    }

    private static func fault(of message: MailMessage) -> String? {
        guard MailAddress.isSendable(message.to) else { return "the recipient is not an address that can be sent to" }
        guard message.subject.utf8.count <= MailMessage.maxSubjectByteCount else { return "the subject is too long" }
        guard !message.subject.unicodeScalars.contains(where: { [.control, .lineSeparator].contains($0.properties.generalCategory) })
        else { return "the subject has a control character" }
        guard message.text.utf8.count <= MailMessage.maxTextByteCount else { return "the text is too long" }
        guard !message.text.utf8.contains(0) else { return "the text has a NUL" }
        return isID(message.id) ? nil : "the id has other characters than letters, digits, hyphens, underscores and single dots"
    }

    private static func isID(_ id: String) -> Bool {
        guard (1...MailMessage.maxIDByteCount).contains(id.utf8.count) else { return false }
        return id.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.utf8.allSatisfy { $0 == 0x2D || $0 == 0x5F || Character(Unicode.Scalar($0)).isASCIIWord }
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 +0000` (RFC 5322 §3.3): HTTP's form, but for the zone.
    private static func date(_ date: Date) -> String { HTTPDate.string(date).dropLast("GMT".count) + "+0000" }
}

extension Character {
    /// Whether it is an ASCII letter or digit.
    fileprivate var isASCIIWord: Bool { isASCII && (isLetter || isNumber) }
}
