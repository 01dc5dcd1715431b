import Mail
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct ConfigurationPageTests {
    private static let mail = ["SMTP_URL": "smtp://mail.example.org:587", "SMTP_FROM": "Heliograph <no-reply@example.org>"]

    @Test func `the page has the settings of identity-api`() async throws {
        let tables = try await SettingsRecord.tables([("", Self.mail)]) { _ = try IdentityAPIConfiguration($0) }
        #expect(try GeneratedSection("identity-api", of: "docs/CONFIGURATION.md").holds(tables))
    }

    @Test func `mails go over TLS with the usual port`() throws {
        let mail = try IdentityAPIConfiguration(Settings(environment: Self.mail.merging(["SMTP_URL": "smtp://mail"]) { $1 })).mail
        #expect(mail.url == "smtp://mail:587" && mail.tls == .required && mail.from.name == "Heliograph" && mail.password == nil)
    }

    @Test(arguments: [
        ("SMTP_URL", ""), ("SMTP_URL", "http://mail"), ("SMTP_FROM", ""), ("SMTP_FROM", "nobody"), ("SMTP_PASSWORD", "secret"),
        ("SMTP_TLS", "perhaps"), ("SMTP_CA_FILE", "/nowhere"),
    ])
    func `a wrong setting of mails ends the start`(name: String, value: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try IdentityAPIConfiguration(Settings(environment: Self.mail.merging([name: value]) { $1 }))
        }
        #expect(error?.name == name && error?.description.contains("secret") == false)
    }
}
