/// A reply of a mail server (RFC 5321 § 4.2), with its enhanced status code (RFC 2034).
struct SMTPReply: Equatable, Sendable {
    let code: Int
    let lines: [String]

    /// A reply of one line.
    init(_ code: Int, _ text: String) { self.init(code, [text]) }

    /// A reply of several lines.
    init(_ code: Int, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    /// The reply of a fault.
    static func fault(_ code: Int) -> SMTPReply { SMTPReply(code, "\(code / 100).0.0 a fault of the emulator") }

    static let ok = SMTPReply(250, "2.0.0 OK")
    static let badSequence = SMTPReply(503, "5.5.1 bad sequence of commands")
    static let badSyntax = SMTPReply(501, "5.5.4 bad syntax of the parameters")
    static let unknown = SMTPReply(500, "5.5.2 unknown command")
    static let bareLineEnd = SMTPReply(500, "5.5.2 a line ends with CRLF, and has neither character elsewhere")
    static let lineTooLong = SMTPReply(500, "5.5.2 the line is too long")
    static let tooManyErrors = SMTPReply(421, "4.7.0 too many errors")
    static let busy = SMTPReply(421, "4.3.2 too many connections")
    static let idle = SMTPReply(421, "4.4.2 idle for too long")

    /// The reply as text.
    var text: String {
        lines.enumerated().map { "\(code)\($0.offset == lines.count - 1 ? " " : "-")\($0.element)\r\n" }.joined()
    }
}
