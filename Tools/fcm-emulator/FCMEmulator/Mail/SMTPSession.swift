import FoundationEssentials

/// The server's side of a conversation (RFC 5321) with PIPELINING, SIZE, 8BITMIME, SMTPUTF8, STARTTLS and AUTH, without any input or
/// output: it takes lines and returns replies.
struct SMTPSession {
    /// The extensions that the server offers.
    struct Offer: Sendable {
        var hostName = "fcm-emulator"
        var hasTLS = false
        /// The name and the password that a client must give; nil when no authentication is needed.
        var credentials: (user: String, password: String)?
        var maxMailBytes = 262_144
        var maxRecipients = 100
    }

    /// The action after a line.
    struct Outcome: Equatable {
        enum Next: Equatable { case goOn, startTLS, close }

        /// The answer; nil when there is no answer yet.
        var reply: SMTPReply?
        /// The step that the reply accepts; a fault may refuse it instead, by ``SMTPSession/refuse(_:)``.
        var step: MailStep?
        /// The mail that the reply takes.
        var mail: SMTPMail?
        var next = Next.goOn

        static func reply(_ reply: SMTPReply) -> Outcome { Outcome(reply: reply) }
        static func close(_ reply: SMTPReply) -> Outcome { Outcome(reply: reply, next: .close) }
    }

    private enum Mode {
        case commands
        case data
        /// Waits for the answer to a challenge of AUTH.
        case authentication(SMTPAuthentication)
    }

    /// The longest command, in bytes with its line end (RFC 4954 § 4); text lines may have 1000.
    static let maxLineBytes = 12_288
    private static let maxTextLineBytes = 1_000
    /// Bad commands until the connection is closed.
    private static let maxErrors = 20

    let offer: Offer
    private(set) var isTLS: Bool
    private(set) var isAuthenticated = false
    private var hasGreeted = false
    private var mail: SMTPMail?
    private var mode = Mode.commands
    private var errors = 0

    init(_ offer: Offer, isTLS: Bool = false) {
        self.offer = offer
        self.isTLS = isTLS
    }

    /// The recipients of the mail in progress.
    var recipients: [String] { mail?.recipients ?? [] }

    /// The first reply of a connection.
    var greeting: Outcome { Outcome(reply: SMTPReply(220, "\(offer.hostName) ESMTP, an emulator"), step: .connection) }

    /// Forgets everything but the encryption, which has begun (RFC 3207 § 4.2).
    mutating func tlsStarted() { self = SMTPSession(offer, isTLS: true) }

    /// Takes back a step that was refused by a fault.
    mutating func refuse(_ step: MailStep) {
        switch step {
        case .recipient: mail?.recipients.removeLast()
        case .sender: mail = nil
        case .connection, .data: break
        }
    }

    /// Handles a line, without its line end.
    mutating func receive(_ line: [UInt8]) -> Outcome {
        if line.contains(where: { $0 == 0x0A || $0 == 0x0D }) { return .close(.bareLineEnd) }
        switch mode {
        case .data: return receiveText(line)
        case .authentication(let authentication): return answer(authentication, to: line)
        case .commands:
            let outcome = command(line)
            guard let code = outcome.reply?.code, (500..<505).contains(code) else { return outcome }
            errors += 1
            return errors < Self.maxErrors ? outcome : .close(.tooManyErrors)
        }
    }

    private mutating func command(_ line: [UInt8]) -> Outcome {
        guard let text = String(validating: line, as: UTF8.self), !text.utf8.contains(0) else { return .reply(.badSyntax) }
        let words = text.split(separator: " ", maxSplits: 1)
        let parameter = words.count > 1 ? String(words[1]) : ""
        switch words.first?.uppercased() {
        case "EHLO", "HELO": return hello(isExtended: words[0].uppercased() == "EHLO", parameter)
        case "STARTTLS": return startTLS(parameter)
        case "AUTH": return authenticate(parameter)
        case "MAIL": return begin(parameter)
        case "RCPT": return add(parameter)
        case "DATA": return beginText(parameter)
        case "RSET":
            mail = nil
            return .reply(.ok)
        case "NOOP": return .reply(.ok)
        case "VRFY": return .reply(SMTPReply(252, "2.5.0 send it, and it will be seen"))
        case "QUIT": return .close(SMTPReply(221, "2.0.0 bye"))
        default: return .reply(.unknown)
        }
    }

    private mutating func hello(isExtended: Bool, _ name: String) -> Outcome {
        guard !name.isEmpty else { return .reply(.badSyntax) }
        hasGreeted = true
        mail = nil
        guard isExtended else { return .reply(SMTPReply(250, offer.hostName)) }
        var lines = [offer.hostName, "PIPELINING", "SIZE \(offer.maxMailBytes)", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        if offer.hasTLS, !isTLS { lines.append("STARTTLS") }
        if canAuthenticate { lines.append("AUTH PLAIN LOGIN") }
        return .reply(SMTPReply(250, lines))
    }

    private func startTLS(_ parameter: String) -> Outcome {
        guard offer.hasTLS else { return .reply(SMTPReply(502, "5.5.1 no TLS here")) }
        guard parameter.isEmpty else { return .reply(.badSyntax) }
        guard hasGreeted, !isTLS else { return .reply(.badSequence) }
        return Outcome(reply: SMTPReply(220, "2.0.0 go ahead"), next: .startTLS)
    }

    // MARK: Authentication

    /// Passwords are not asked for in the clear where TLS is to be had.
    private var canAuthenticate: Bool { offer.credentials != nil && (isTLS || !offer.hasTLS) && !isAuthenticated }

    private mutating func authenticate(_ parameter: String) -> Outcome {
        guard hasGreeted, canAuthenticate, mail == nil else { return .reply(.badSequence) }
        let words = parameter.split(separator: " ")
        guard (1...2).contains(words.count), let mechanism = SMTPAuthentication(mechanism: words[0].uppercased()) else {
            return .reply(SMTPReply(504, "5.5.4 unknown mechanism"))
        }
        if words.count == 2 { return answer(mechanism, to: words[1] == "=" ? [] : Array(words[1].utf8)) }
        mode = .authentication(mechanism)
        return .reply(SMTPReply(334, mechanism.challenge))
    }

    private mutating func answer(_ authentication: SMTPAuthentication, to line: [UInt8]) -> Outcome {
        mode = .commands
        if line == Array("*".utf8) { return .reply(SMTPReply(501, "5.7.0 authentication cancelled")) }
        guard let bytes = Data(base64Encoded: Data(line)), let text = String(validating: bytes, as: UTF8.self) else {
            return .reply(SMTPReply(501, "5.5.2 not base64"))
        }
        switch authentication.step(text) {
        case .ask(let next):
            mode = .authentication(next)
            return .reply(SMTPReply(334, next.challenge))
        case .found(let user, let password):
            isAuthenticated = offer.credentials.map { $0.user == user && $0.password == password } ?? false
            return .reply(isAuthenticated ? SMTPReply(235, "2.7.0 welcome") : SMTPReply(535, "5.7.8 wrong name or password"))
        case .malformed: return .reply(SMTPReply(501, "5.5.2 malformed credentials"))
        }
    }

    // MARK: A mail

    private mutating func begin(_ parameter: String) -> Outcome {
        guard hasGreeted, mail == nil else { return .reply(.badSequence) }
        if offer.credentials != nil, !isAuthenticated { return .reply(SMTPReply(530, "5.7.0 authentication is required")) }
        guard let path = SMTPPath(parameter, after: "FROM:") else { return .reply(.badSyntax) }
        var mail = SMTPMail(from: path.address, isTLS: isTLS)
        for (name, value) in path.extensions {
            switch (name, value) {
            case ("SIZE", let value?):
                guard let size = Int(value) else { return .reply(.badSyntax) }
                if size > offer.maxMailBytes { return .reply(SMTPReply(552, "5.3.4 too large")) }
            case ("BODY", "7BIT"), ("AUTH", _): break
            case ("BODY", "8BITMIME"): mail.allows8Bit = true
            case ("SMTPUTF8", nil): (mail.isInternational, mail.allows8Bit) = (true, true)
            default: return .reply(SMTPReply(555, "5.5.4 unknown parameter"))
            }
        }
        if path.isInternational, !mail.isInternational { return .reply(Self.needsUTF8) }
        self.mail = mail
        return Outcome(reply: .ok, step: .sender)
    }

    private static let needsUTF8 = SMTPReply(553, "5.6.7 an address beyond ASCII needs SMTPUTF8")

    private mutating func add(_ parameter: String) -> Outcome {
        guard let mail else { return .reply(.badSequence) }
        guard let path = SMTPPath(parameter, after: "TO:"), !path.address.isEmpty else { return .reply(.badSyntax) }
        guard path.extensions.isEmpty else { return .reply(SMTPReply(555, "5.5.4 unknown parameter")) }
        if path.isInternational, !mail.isInternational { return .reply(Self.needsUTF8) }
        guard mail.recipients.count < offer.maxRecipients else { return .reply(SMTPReply(452, "4.5.3 too many recipients")) }
        self.mail?.recipients.append(path.address)
        return Outcome(reply: .ok, step: .recipient)
    }

    private mutating func beginText(_ parameter: String) -> Outcome {
        guard parameter.isEmpty else { return .reply(.badSyntax) }
        guard let mail else { return .reply(.badSequence) }
        guard !mail.recipients.isEmpty else { return .reply(SMTPReply(554, "5.5.1 no recipients")) }
        mode = .data
        return .reply(SMTPReply(354, "end with a line of one dot"))
    }

    private mutating func receiveText(_ line: [UInt8]) -> Outcome {
        if line != [0x2E] {
            // Whatever is refused at the end of the mail need not be kept.
            if line.count + 2 > Self.maxTextLineBytes { mail?.fault = SMTPReply(500, "5.6.0 a line has more than 1000 bytes") }
            if mail?.allows8Bit == false, line.contains(where: { $0 > 0x7F }) {
                mail?.fault = SMTPReply(554, "5.6.3 bytes beyond ASCII without 8BITMIME")
            }
            mail?.append(line.first == 0x2E ? line[1...] : line[...], maxBytes: offer.maxMailBytes)
            return Outcome()
        }
        defer { (mode, mail) = (.commands, nil) }
        if let fault = mail?.fault { return .reply(fault) }
        return Outcome(reply: .ok, step: .data, mail: mail)
    }
}
