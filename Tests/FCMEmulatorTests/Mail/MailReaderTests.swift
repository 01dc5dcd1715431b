import Testing

@testable import FCMEmulator

@Suite struct MailReaderTests {
    private func read(_ text: String) -> MailReader { MailReader(Array(text.replacing("\n", with: "\r\n").utf8)) }

    @Test func `fields are unfolded and their words decoded`() {
        let mail = read(
            """
            Subject: =?UTF-8?B?R3LDvA==?=
             =?utf-8?q?=C3=9Fe_an?= alle
            to: <a@b>
            no field
            X:y

            text
            """)
        #expect(mail.fields.map(\.name) == ["Subject", "to", "X"])
        #expect(mail.fields.map(\.value) == ["Grüße an alle", "<a@b>", "y"])
        #expect(mail.text == "text")
    }

    @Test(arguments: [
        ("quoted-printable", "a=3Db=\n =C3=A9=20\n=ZZ=", "a=b é \n=ZZ="), ("Base64", "R3LDvMOf\nZQ==\n", "Grüße"), ("base64", "!!", "!!"),
        ("7bit", "a=3Db\n", "a=3Db\n"), ("8bit", "é", "é"),
    ])
    func `a text is decoded`(encoding: String, body: String, text: String) {
        #expect(read("Content-Transfer-Encoding: \(encoding)\n\n\(body)").text == text)
    }

    @Test(arguments: ["", "\n", "a", "a: b", "\n\n", ": x\n\ny"]) func `whatever is sent is a mail`(text: String) {
        _ = read(text)
        #expect(read(text + "\n\nbody").text.hasSuffix("body"))
    }
}
