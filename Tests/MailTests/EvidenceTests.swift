import CLibCurl
import Testing

@testable import Mail

@Suite struct EvidenceTests {
    @Test func `the step follows the commands, and no credentials`() {
        var step = SMTPEvidence.Step.session
        var steps: [SMTPEvidence.Step] = []
        for command in ["EHLO x", "AUTH PLAIN", "MAILMAILMAIL", "MAIL FROM:<a@b>", "RCPT TO:<c@d>", "DATA", "QUIT"] {
            step.advance(Array("\(command)\r\n".utf8))
            steps.append(step)
        }
        #expect(steps == [.session, .session, .session, .sender, .recipient, .data, .data])
    }

    @Test(arguments: [
        (CURLE_RECV_ERROR, 0, SMTPEvidence.Step.sender, true), (CURLE_SEND_ERROR, 421, .sender, true),
        (CURLE_SEND_ERROR, 550, .recipient, false),
        (CURLE_RECV_ERROR, 354, .data, false), (CURLE_OPERATION_TIMEDOUT, 0, .sender, false),
    ])
    func `a mail is sent again only when the server cannot know it`(result: CURLcode, reply: Int, step: SMTPEvidence.Step, isStale: Bool) {
        let evidence = SMTPEvidence(result: result, reply: reply, step: step, detail: "", isReused: true)
        #expect(evidence.isStale == isStale)
        #expect(!SMTPEvidence(result: result, reply: reply, step: step, detail: "", isReused: false).isStale)
    }

    @Test(arguments: [("MAIL", true), ("RCPT", true), ("DATA\r\n", false)])
    func `a kept connection counts as silent until the server knows the mail`(command: String, isSilent: Bool) {
        let transfer = SMTPTransfer(body: [], silenceLimit: .zero) { false }
        #expect(!transfer.mustAbort(), "no command was sent")
        for command in ["MAIL FROM:<a@b>", "\(command) "] { Array(command.utf8).withUnsafeBytes { transfer.sent($0) } }
        #expect(transfer.mustAbort() == isSilent && transfer.isSilent == isSilent)
    }

    @Test(arguments: [
        (["250-mail.example.org", "250-SMTPUTF8", "250 8BITMIME"], true), (["250-mail.example.org", "250 8BITMIME"], false),
        (["220 SMTPUTF8 is spoken here"], false),
    ])
    func `a server takes international addresses when it announces them after the last EHLO`(reply: [String], isAnnounced: Bool) {
        let transfer = SMTPTransfer(body: [], silenceLimit: .seconds(60)) { false }
        func send(_ command: String) { Array("\(command)\r\n".utf8).withUnsafeBytes { transfer.sent($0) } }
        func hear(_ lines: [String]) { for line in lines { Array("\(line)\r\n".utf8).withUnsafeBytes { transfer.heard($0) } } }
        send("EHLO client")
        hear(["250-SMTPUTF8", "250 STARTTLS"])
        send("STARTTLS")
        send("EHLO client")
        hear(reply)
        send("AUTH PLAIN")
        #expect(transfer.takesInternationalAddresses == nil, "the session has not gone on to the mail")
        send("MAIL FROM:<a@b>")
        #expect(transfer.takesInternationalAddresses == isAnnounced)
    }

    @Test func `a new connection has the whole time of the mail`() {
        let transfer = SMTPTransfer(body: [], silenceLimit: .zero) { false }
        for command in ["EHLO x", "MAIL FROM:<a@b>"] { Array(command.utf8).withUnsafeBytes { transfer.sent($0) } }
        #expect(!transfer.mustAbort())
    }

    @Test func `the silence begins with the last reply`() {
        let transfer = SMTPTransfer(body: [], silenceLimit: .seconds(600)) { false }
        Array("MAIL FROM:<a@b>".utf8).withUnsafeBytes { transfer.sent($0) }
        #expect(!transfer.mustAbort())
    }
}
