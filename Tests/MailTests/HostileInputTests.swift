import FoundationEssentials
import TestSupport
import Testing

@testable import Mail

/// Whatever the fields of a mail are, it is refused or has exactly our header fields.
@Suite struct HostileInputTests {
    private static let pieces = [
        "a", "B", "7", "@", ".", " ", "<", ">", "\r", "\n", "\r\n", "\0", ":", ",", ";", "\"", "\\", "=", "?", "=?UTF-8?B?DQpC?=", "é", "名",
        "👩‍💻", "\u{202E}", "\u{2028}", "\u{85}", "\t", "Bcc: x@y", "example.org", "RCPT TO:<x@y>", "\r\n.\r\n", ".",
        String(repeating: "x", count: 80),
    ]

    private static func text(_ random: inout SeededGenerator, upTo count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `no input adds a header field or a command`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let from = try #require(MailAddress("Heliograph <no-reply@example.com>"))
        var rendered = 0
        for _ in 0..<1_000 {
            let isPlain = Bool.random(using: &random)
            let message = MailMessage(
                to: isPlain ? "a@b" : Self.text(&random, upTo: 3) + "@" + Self.text(&random, upTo: 2),
                subject: Self.text(&random, upTo: 4), text: Self.text(&random, upTo: 20),
                id: isPlain ? "1" : Self.text(&random, upTo: 2))
            guard let bytes = try? MailRenderer.render(message, from: from, date: Date()) else { continue }
            rendered += 1
            try check(bytes, message)
        }
        #expect(rendered > 100)
    }

    private func check(_ bytes: [UInt8], _ message: MailMessage) throws {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(!lines.contains { $0.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" } })
        #expect(lines.allSatisfy { $0.utf8.count <= 998 })
        let head = lines.prefix { !$0.isEmpty }
        let names = head.filter { $0.first != " " }.map { $0.prefix { $0 != ":" } }
        #expect(
            names == [
                "Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
                "Content-Transfer-Encoding",
            ])
        let rest = lines.dropFirst(head.count + 1)
        #expect(rest.allSatisfy { $0.utf8.count <= 76 && $0.utf8.allSatisfy { $0 == 0x09 || (0x20..<0x7F).contains($0) } })
        #expect(!message.to.contains { " <>\r\n".contains($0) })
    }
}
