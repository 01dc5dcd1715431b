import FoundationEssentials
import Testing

@testable import Mail

@Suite struct RenderingTests {
    private func render(_ message: MailMessage, from: String = "Heliograph <no-reply@example.com>") throws -> String {
        let sender = try #require(MailAddress(from))
        let bytes = try MailRenderer.render(message, from: sender, date: Date(timeIntervalSince1970: 784_111_777))
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a plain mail is readable as it is`() throws {
        let message = MailMessage(to: "ann@example.org", subject: "Your code", text: "Your code is 123456.\n\nBye\n", id: "7-a")
        let expected = """
            Date: Sun, 06 Nov 1994 08:49:37 +0000
            From: "Heliograph" <no-reply@example.com>
            To: <ann@example.org>
            Subject: Your code
            Message-ID: <7-a@example.com>
            Auto-Submitted: auto-generated
            MIME-Version: 1.0
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: quoted-printable

            Your code is 123456.

            Bye

            """
        #expect(try render(message) == expected.replacing("\n", with: "\r\n"))
    }

    @Test func `texts beyond ASCII are encoded`() throws {
        let subject = "Ваш код подтверждения — 确认码 👩‍💻"
        let message = MailMessage(to: "ann@example.org", subject: subject, text: "Mã: 1=2 é \tx \n.", id: "7")
        let text = try render(message, from: "Жёлтый Дом <no-reply@example.com>")
        #expect(text.contains("From: =?UTF-8?B?0JbRkdC70YLRi9C5INCU0L7QvA==?=\r\n <no-reply@example.com>\r\n"))
        #expect(
            text.contains(
                """
                Subject: =?UTF-8?B?0JLQsNGIINC60L7QtCDQv9C+0LTRgtCy0LXRgNC20LTQtdC90Lg=?=\r
                 =?UTF-8?B?0Y8g4oCUIOehruiupOeggSDwn5Gp4oCN8J+Suw==?=\r\n
                """))
        #expect(text.hasSuffix("\r\n\r\nM=C3=A3: 1=3D2 =C3=A9 \tx=20\r\n.\r\n"))
    }

    @Test(arguments: [0, 1, 30, 75, 76, 77, 150, 151, 152, 153, 200])
    func `no line of a text is longer than 76 bytes`(length: Int) throws {
        for unit in ["x", "=", "é", " "] {
            let encoded = QuotedPrintable.encode(String(repeating: unit, count: length))
            let lines = String(decoding: encoded, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.utf8.count <= 76 && $0.last != " " })
        }
    }

    @Test func `a long subject is folded`() throws {
        let subject = String(repeating: "word ", count: 30) + "end"
        let text = try render(MailMessage(to: "a@b", subject: subject, text: "", id: "1"))
        #expect(text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 76 })
    }

    @Test(arguments: ["a\nBcc: x@y", "a\r\nBcc: x@y", "a\rb", "a\0b", "a\u{85}b", "a\u{2028}b", String(repeating: "x", count: 501)])
    func `a subject cannot end its line`(subject: String) {
        #expect(throws: MailError.self) { try render(MailMessage(to: "a@b", subject: subject, text: "", id: "1")) }
    }

    @Test(arguments: ["", "a b", "a@b", "<a>", "a\r\n", ".a", "a..b", "é", String(repeating: "x", count: 65)])
    func `an id has only letters, digits and a few signs`(id: String) {
        #expect(throws: MailError.self) { try render(MailMessage(to: "a@b", subject: "s", text: "", id: id)) }
    }

    @Test func `a text has no NUL, and a limit`() {
        for text in ["a\0", String(repeating: "x", count: 65_537)] {
            #expect(throws: MailError.self) { try render(MailMessage(to: "a@b", subject: "s", text: text, id: "1")) }
        }
    }
}
