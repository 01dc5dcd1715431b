import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Consents to the processing of faces.
@Suite struct ConsentTests {
    private static let text = "We keep a template of your face.\nYou can have it erased."
    private static let hash = Hex.encode(SHA256.hash(text))

    @Sendable private static func require(_ configuration: inout IdentityAPIConfiguration) {
        configuration.consent = ConsentRequirement(version: "2026-11", text: text)
    }

    @Test(.api(require)) func `the text is served with its version and hash`() async throws {
        let answer = try await api.send("GET", "/v1/consent")
        #expect(answer.status == 200 && answer.json.value("data.required") == true)
        #expect(answer.json.text("data.consent_version") == "2026-11" && answer.json.text("data.consent_sha256") == Self.hash)
        #expect(answer.json.text("data.text") == Self.text)
    }

    @Test(.api(require), arguments: [nil, "", "2025-01", "2026-11 "])
    func `a sign-up without the current consent is refused, and told the current one`(version: String?) async throws {
        var form = Form.signUp()
        if let version { form = form.with("consent_version", version) }
        let answer = try await api.send(form, to: Path.signUp)
        #expect(answer.refusal == "400 consent_required consent_version")
        #expect(answer.json.number("code") == 1_011 && answer.json.value("error.retryable") == false)
        #expect(answer.json.text("error.consent_version") == "2026-11" && answer.json.text("error.consent_sha256") == Self.hash)
        #expect(try await api.isUntouched(), "the photos are deleted")
        let problem = try await api.send(form, to: Path.signUp, headers: [("Accept", "application/problem+json")])
        #expect(problem.json.value("errors")?[0]?.text("consent_version") == "2026-11")
    }

    @Test(.api(require)) func `a session keeps what its sender consented to, and when`() async throws {
        let session = try await api.start(Path.signUp, .signUp().with("consent_version", "2026-11"))
        let stored = try #require(try await SessionRepository(api.postgres).find(id: session.id))
        #expect(stored.consent == Consent(text: ConsentedText(version: "2026-11", hash: SHA256.hash(Self.text)), givenAt: stored.createdAt))
    }

    @Test(.api(require)) func `a sign-in needs no consent`() async throws {
        let session = try await api.start()
        #expect(try await SessionRepository(api.postgres).find(id: session.id)?.consent == nil)
    }

    @Test(.api(require)) func `a sign-up that was answered before the text changed is repeatable after it`() async throws {
        let key = [("Idempotency-Key", "sign-up-1")]
        let form = Form.signUp().with("consent_version", "2026-11")
        let first = try await api.send(form, to: Path.signUp, headers: key)
        try await withSecondInstance(of: api) {
            $0.consent = ConsentRequirement(version: "2026-12", text: "Another text")
        } _: { newer in
            let again = try await newer.send(form, to: Path.signUp, headers: key)
            #expect(again.text == first.text && again.header("Idempotent-Replayed") == "true")
            let other = try await newer.send(form, to: Path.signUp)
            #expect(other.refusal == "400 consent_required consent_version")
        }
    }

    @Test(.api) func `where no consent is required, none is stored`() async throws {
        #expect(try await api.send("GET", "/v1/consent").json.value("data") == .members(("required", false)))
        let session = try await api.start(Path.signUp, .signUp().with("consent_version", "2026-11"))
        #expect(try await SessionRepository(api.postgres).find(id: session.id)?.consent == nil)
    }

    @Test(.apiWithMail(require)) func `the consent of a waiting face is stored with the account that its code creates`() async throws {
        let session = try await api.start(
            Path.signUp, .signUp(email: "ada@example.org").with("consent_version", "2026-11"))
        let sent = try #require(try await SessionRepository(api.postgres).find(id: session.id)).createdAt
        try await api.suspend(session.id)
        #expect(try await api.count("consents") == 0)
        let answer = try await api.enter(session.id.wireString, "ada@example.org")
        let user = try #require(UUID(uuidString: answer.json.text("data.user_id") ?? ""))
        let consent = try #require(try await ConsentRepository(api.postgres).latest(of: user))
        #expect(consent.text.version == "2026-11" && consent.givenAt == sent)
        _ = try await api.enter(session.id.wireString, "ada@example.org")
        #expect(try await api.count("consents") == 1, "a repetition")
    }
}

@Suite struct ConsentSettingTests {
    private static let mail = ["SMTP_URL": "smtp://mail.example.org:587", "SMTP_FROM": "no-reply@example.org"]

    private static func read(_ values: [String: String]) throws -> ConsentRequirement? {
        try IdentityAPIConfiguration(Settings(environment: mail.merging(values) { $1 })).consent
    }

    @Test func `the version and the text are read, the text also from a file`() throws {
        #expect(try Self.read([:]) == nil)
        let folder = try TemporaryDirectory()
        let path = folder.path + "/consent.txt"
        try "Text\n".write(toFile: path, atomically: true, encoding: .utf8)
        let consent = try #require(try Self.read(["CONSENT_VERSION": "1", "CONSENT_TEXT_FILE": path]))
        #expect(consent.text == "Text" && consent.current == ConsentedText(version: "1", hash: SHA256.hash("Text")))
    }

    @Test(arguments: [
        (["CONSENT_VERSION": "1"], "CONSENT_TEXT"), (["CONSENT_TEXT": "Text"], "CONSENT_VERSION"),
        (["CONSENT_VERSION": "a b", "CONSENT_TEXT": "Text"], "CONSENT_VERSION"),
        (["CONSENT_VERSION": String(repeating: "1", count: 65), "CONSENT_TEXT": "Text"], "CONSENT_VERSION"),
        (["CONSENT_VERSION": "1", "CONSENT_TEXT": String(repeating: "a", count: 65_537)], "CONSENT_TEXT"),
    ])
    func `a version without a text, and one that cannot be stored, end the start`(values: [String: String], name: String) {
        let error = #expect(throws: ConfigurationError.self) { try Self.read(values) }
        #expect(error?.name == name)
    }
}
