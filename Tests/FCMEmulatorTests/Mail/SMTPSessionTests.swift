import Testing

@testable import FCMEmulator

@Suite struct SMTPSessionTests {
    private static func offer(_ change: (inout SMTPSession.Offer) -> Void = { _ in }) -> SMTPSession.Offer {
        var offer = SMTPSession.Offer()
        offer.hasTLS = true
        change(&offer)
        return offer
    }

    /// Says the lines and returns the codes of the replies; nil for a line without one.
    private func say(_ lines: [String], to session: inout SMTPSession) -> [Int?] {
        lines.map { session.receive(Array($0.utf8)).reply?.code }
    }

    private func codes(
        _ lines: [String], isTLS: Bool = false, _ change: (inout SMTPSession.Offer) -> Void = { _ in }
    ) -> [Int?] {
        var session = SMTPSession(Self.offer(change), isTLS: isTLS)
        return say(lines, to: &session)
    }

    @Test func `a mail has a sender, recipients and a text`() {
        var session = SMTPSession(Self.offer())
        #expect(session.greeting.reply?.code == 220)
        let start = ["EHLO app", "MAIL FROM:<a@b> SIZE=20", "rcpt to:<c@d>", "RCPT TO:<e@f>", "DATA", "Subject: x", "", "..dots", ".x"]
        #expect(say(start, to: &session) == [250, 250, 250, 250, 354, nil, nil, nil, nil])
        let outcome = session.receive(Array(".".utf8))
        #expect(outcome.reply?.code == 250 && outcome.step == .data)
        #expect(outcome.mail?.from == "a@b" && outcome.mail?.recipients == ["c@d", "e@f"])
        #expect(outcome.mail.map { String(decoding: $0.content, as: UTF8.self) } == "Subject: x\r\n\r\n.dots\r\nx\r\n")
        #expect(say(["RCPT TO:<c@d>", "MAIL FROM:<>", "QUIT"], to: &session) == [503, 250, 221])
    }

    @Test func `a server tells what it can do, and of TLS and passwords only when they are to be had`() {
        func extensions(isTLS: Bool, _ change: (inout SMTPSession.Offer) -> Void) -> Set<String> {
            var session = SMTPSession(Self.offer(change), isTLS: isTLS)
            return Set(session.receive(Array("EHLO app".utf8)).reply?.lines.dropFirst() ?? [])
        }
        let common: Set = ["PIPELINING", "SIZE 262144", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"]
        #expect(extensions(isTLS: false) { $0.credentials = ("u", "p") } == common.union(["STARTTLS"]))
        #expect(extensions(isTLS: true) { $0.credentials = ("u", "p") } == common.union(["AUTH PLAIN LOGIN"]))
        #expect(extensions(isTLS: true) { _ in } == common)
        #expect(extensions(isTLS: false) { $0.hasTLS = false } == common)
    }

    @Test(arguments: [
        ["MAIL FROM:<a@b>"], ["EHLO x", "RCPT TO:<a@b>"], ["EHLO x", "DATA"], ["STARTTLS"],
        ["EHLO x", "MAIL FROM:<a@b>", "MAIL FROM:<a@b>"],
        ["EHLO x", "MAIL FROM:<a@b>", "RSET", "RCPT TO:<a@b>"], ["EHLO x", "MAIL FROM:<a@b>", "EHLO x", "RCPT TO:<a@b>"], ["AUTH PLAIN"],
    ])
    func `commands have their order`(lines: [String]) { #expect(codes(lines).last == 503) }

    @Test(arguments: [
        ("MAIL FROM:a@b", 501), ("MAIL FROM:<a b@c>", 501), ("MAIL TO:<a@b>", 501), ("MAIL FROM:<a@b> SIZE=x", 501),
        ("MAIL FROM:<a@b> X=1", 555),
        ("MAIL FROM:<a@b> SIZE=999999999", 552), ("MAIL FROM:<é@b>", 553), ("MAIL FROM:<a@b> BODY=8BITMIME", 250), ("EHLO", 501),
        ("VRFY a", 252),
        ("NOOP", 250), ("HELP", 500), ("", 500), ("EXPN a", 500), ("STARTTLS x", 501), ("NOOP \0", 501),
    ])
    func `parameters have their syntax`(line: String, code: Int) { #expect(codes(["EHLO x", line]).last == code) }

    @Test func `a recipient beyond ASCII needs SMTPUTF8`() {
        #expect(codes(["EHLO x", "MAIL FROM:<a@b>", "RCPT TO:<é@b>"]).last == 553)
        #expect(codes(["EHLO x", "MAIL FROM:<a@b> SMTPUTF8", "RCPT TO:<é@b>"]).last == 250)
    }

    @Test func `a text beyond ASCII, too long or too large is refused at its end`() {
        let start = ["EHLO x", "MAIL FROM:<a@b>", "RCPT TO:<c@d>", "DATA"]
        #expect(codes(start + ["é", "."]).last == 554)
        #expect(codes(start + [String(repeating: "x", count: 998), "."]).last == 250)
        #expect(codes(start + [String(repeating: "x", count: 999), "."]).last == 500)
        #expect(codes(start + ["0123456", "01234567", "."]) { $0.maxMailBytes = 18 }.last == 552)
        #expect(codes(start + ["012345", "01234567", "."]) { $0.maxMailBytes = 18 }.last == 250)
        #expect(codes(start + ["é", ".", "MAIL FROM:<a@b>"]).last == 250, "the next mail is another one")
    }

    @Test func `recipients and errors have a limit`() {
        let mail = ["EHLO x", "MAIL FROM:<a@b>", "RCPT TO:<c@d>", "RCPT TO:<e@f>"]
        #expect(codes(mail) { $0.maxRecipients = 1 } == [250, 250, 250, 452])
        #expect(codes(Array(repeating: "WHAT", count: 20)).suffix(2) == [500, 421])
    }

    @Test(arguments: ["NOOP\nNOOP", "NOOP\rNOOP"]) func `a line end within a line ends the conversation`(line: String) {
        var session = SMTPSession(Self.offer())
        #expect(session.receive(Array(line.utf8)) == .close(.bareLineEnd))
    }

    @Test func `TLS begins a conversation anew`() {
        var session = SMTPSession(Self.offer())
        #expect(say(["EHLO x", "MAIL FROM:<a@b>"], to: &session) == [250, 250])
        #expect(session.receive(Array("STARTTLS".utf8)).next == .startTLS)
        session.tlsStarted()
        #expect(say(["RCPT TO:<a@b>", "MAIL FROM:<a@b>", "EHLO x", "STARTTLS"], to: &session) == [503, 503, 250, 503])
    }

    // MARK: Authentication

    private static let credentials = ("user", "päss")
    private static let plain = "AHVzZXIAcMOkc3M="

    @Test(arguments: [
        (["AUTH PLAIN AHVzZXIAcMOkc3M="], [235]), (["AUTH PLAIN", "AHVzZXIAcMOkc3M="], [334, 235]),
        (["AUTH LOGIN", "dXNlcg==", "cMOkc3M="], [334, 334, 235]), (["auth login dXNlcg==", "cMOkc3M="], [334, 235]),
        (["AUTH PLAIN AHVzZXIAeA=="], [535]), (["AUTH PLAIN !!!"], [501]), (["AUTH PLAIN", "*"], [334, 501]), (["AUTH CRAM-MD5"], [504]),
        (["AUTH PLAIN ="], [501]), (["AUTH"], [504]),
    ])
    func `credentials are asked for in two ways`(lines: [String], expected: [Int?]) {
        let answers = codes(["EHLO x"] + lines, isTLS: true) { $0.credentials = Self.credentials }
        #expect(Array(answers.dropFirst()) == expected)
    }

    @Test func `who has not given credentials sends nothing, and who has need not again`() {
        let (mail, login) = ("MAIL FROM:<a@b>", "AUTH PLAIN \(Self.plain)")
        let answers = codes(["EHLO x", mail, login, mail, login], isTLS: true) { $0.credentials = Self.credentials }
        #expect(answers == [250, 530, 235, 250, 503])
        #expect(codes(["EHLO x", login]) { $0.credentials = Self.credentials }.last == 503, "not in the clear")
    }

    // MARK: Faults

    @Test func `a step that a fault refuses did not happen`() {
        var session = SMTPSession(Self.offer())
        _ = say(["EHLO x", "MAIL FROM:<a@b>", "RCPT TO:<c@d>", "RCPT TO:<e@f>"], to: &session)
        session.refuse(.recipient)
        #expect(session.recipients == ["c@d"])
        session.refuse(.sender)
        #expect(say(["RCPT TO:<c@d>"], to: &session) == [503])
    }
}
