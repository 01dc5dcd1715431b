/// A mail as a client hands it over: its envelope and its bytes.
struct SMTPMail: Equatable, Sendable {
    let from: String
    /// Whether it came over TLS.
    let isTLS: Bool
    var recipients: [String] = []
    /// The mail, its lines ended by CRLF, without the dots of the transport.
    var content: [UInt8] = []
    /// Whether its addresses and header fields may have characters beyond ASCII (SMTPUTF8).
    var isInternational = false
    /// Whether its bytes may be beyond ASCII.
    var allows8Bit = false
    /// Why it will be refused at its end.
    var fault: SMTPReply?

    init(from: String, isTLS: Bool) {
        self.from = from
        self.isTLS = isTLS
    }

    mutating func append(_ line: ArraySlice<UInt8>, maxBytes: Int) {
        guard fault == nil else { return content.removeAll() }
        guard content.count + line.count + 2 <= maxBytes else {
            fault = SMTPReply(552, "5.3.4 too large")
            return
        }
        content += line
        content += [0x0D, 0x0A]
    }
}

/// A step of a mail's way to the server, which a fault can refuse.
public enum MailStep: String, Sendable, CaseIterable {
    /// The greeting of a new connection.
    case connection
    /// `MAIL`.
    case sender
    /// `RCPT`.
    case recipient
    /// The end of the mail, whose answer confirms it.
    case data
}
