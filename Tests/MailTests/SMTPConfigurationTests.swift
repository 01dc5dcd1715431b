import Testing

@testable import Mail

@Suite struct SMTPConfigurationTests {
    private func fault(
        url: String = "smtp://mail.example.com", from: String = "a@b", username: String? = nil, password: String? = nil,
        tls: SMTPConfiguration.TLS = .required
    ) -> String? {
        do throws(MailError) {
            _ = try SMTPConfiguration(url: url, from: from, username: username, password: password, tls: tls)
            return nil
        } catch {
            #expect(error.code == .misconfigured)
            return error.message
        }
    }

    @Test(arguments: [
        ("smtp://mail.example.com", "smtp://mail.example.com:587"), ("SMTPS://mail/", "smtps://mail:465"),
        ("smtp://127.0.0.1:25", "smtp://127.0.0.1:25"), ("smtp://[::1]:2525", "smtp://[::1]:2525"),
    ])
    func `a URL has a host, and a port or the usual one`(text: String, url: String) throws {
        #expect(try SMTPConfiguration(url: text, from: "a@b").url == url)
    }

    @Test(arguments: [
        "", "mail", "http://mail", "smtp://", "smtp://mail:0", "smtp://mail:70000", "smtp://user@mail", "smtp://u:secret@mail",
        "smtp://mail/x",
        "smtp://mail?x", "smtp://mail#x", "smtp://mail\r\nX", "smtp://ma il",
    ])
    func `any other URL is refused`(url: String) {
        let fault = fault(url: url)
        #expect(fault != nil && fault?.contains("secret") == false)
    }

    @Test func `a password is never sent in the clear`() {
        #expect(fault(username: "u", password: "p") == nil)
        #expect(fault(username: "u", password: "p", tls: .none) == "a password needs TLS")
        #expect(fault(username: "u") == "the name or the password is missing")
        #expect(fault(url: "smtps://mail", tls: .none) == "smtps:// is TLS")
        #expect(fault(from: "nobody") == "the sender is not an address")
    }
}
