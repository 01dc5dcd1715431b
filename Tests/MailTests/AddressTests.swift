import Testing

@testable import Mail

@Suite struct AddressTests {
    @Test(arguments: [
        ("a@b", "", "a@b"), ("Heliograph <no-reply@example.com>", "Heliograph", "no-reply@example.com"),
        ("\"A, B.\" <a@b.c>", "A, B.", "a@b.c"), ("<a@b>", "", "a@b"), ("Жёлтый Дом <a@пример.рф>", "Жёлтый Дом", "a@пример.рф"),
    ])
    func `a sender has an address and perhaps a name`(text: String, name: String, address: String) {
        let sender = MailAddress(text)
        #expect(sender?.name == name && sender?.address == address)
    }

    @Test(arguments: [
        "", "a", "@b", "a@", "a b@c", "a@b c", "a@b>", "a@b> SIZE=1", "<a@b", "a@b\r\nRCPT TO:<c@d>", "a\n@b", "a\0@b", "\"a b\"@c",
        "a..b@c",
        ".a@b", "a@b.", "a@-b", "a@b@c", "a@[127.0.0.1]", "a,b@c", "a\u{202E}@b", "x\r\nBcc: y <a@b>", "a\\b@c", "a:b@c",
        "a\"\u{301}b <c@d>", "\"\u{301}a\" <c@d>", "\u{301}a <c@d>",
    ])
    func `what is no address is refused`(text: String) { #expect(MailAddress(text) == nil) }

    @Test func `an address has a length`() {
        let domain = String(repeating: "d", count: 60) + ".example"
        #expect(MailAddress(String(repeating: "a", count: 64) + "@" + domain) != nil)
        #expect(MailAddress(String(repeating: "a", count: 65) + "@" + domain) == nil)
        #expect(MailAddress("a@" + String(repeating: "d.", count: 126) + "de") == nil)
    }
}
