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
}
