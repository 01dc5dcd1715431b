import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Threats of `docs/THREAT-MODEL.md` that concern several routes at once.
@Suite struct ThreatTests {
    private func json(_ method: String, _ path: String, _ body: String, _ device: SignedInDevice) async throws -> HTTPClientResponse {
        try await api.send(
            method, path, headers: [device.bearer, ("Content-Type", "application/json")], body: Array(body.utf8))
    }

    @Test(.api)
    func `a stolen access token enrols no face, changes no e-mail and exports nothing five minutes after the sign-in`() async throws {
        let device = try await api.signedInDevice()
        try await api.age(device, by: 301)
        let sessions = try await api.count("sessions")
        let face = try await api.send(.signUp(email: nil), to: Path.signUp, headers: [device.bearer])
        let email = try await json("PUT", "/v1/users/me/email", #"{"email":"thief@example.org"}"#, device)
        let export = try await api.send("GET", "/v1/users/me/export", headers: [device.bearer])
        for answer in [face, email, export] { #expect(answer.refusal == "403 reauthentication_required") }
        #expect(try await api.count("sessions") == sessions)
        #expect(try await api.count("email_verifications") + api.count("account_exports") == 0)
    }

    @Test(.api) func `a user who knows the ids of another user's things reaches none of them`() async throws {
        let owner = try await api.customer("owner")
        let stranger = try await api.customer("stranger")
        let job = try await api.job(by: owner)
        try await api.complete(job)
        _ = try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [owner.bearer])
        _ = try await api.send("PUT", "/v1/topics/conversation:c/members/me", headers: [owner.bearer])
        let signIn: UUID = try await api.postgres.query(
            "SELECT family_id FROM access_tokens WHERE user_id = \(owner.userID)")[0].decode("family_id")
        let requests = [
            ("GET", "/v1/images/jobs/\(job.wireString)"), ("DELETE", "/v1/images/jobs/\(job.wireString)"),
            ("GET", "/v1/images/jobs/\(job.wireString)/events"), ("DELETE", "/v1/users/me/sessions/\(signIn.wireString)"),
            ("GET", "/v1/topics/event:party/members"), ("POST", "/v1/topics/event:party/photos"),
            ("PUT", "/v1/topics/event:party/members/\(stranger.userID.wireString)"),
            ("DELETE", "/v1/topics/event:party/members/\(owner.userID.wireString)"),
            ("POST", "/v1/topics/conversation:c/messages"), ("POST", "/v1/topics/conversation:c/read"),
        ]
        for (method, path) in requests {
            var (type, body) = ("application/json", Array(#"{"message_id":"m-1","text":"hello"}"#.utf8))
            if path.hasSuffix("/photos") { (type, body) = (Form.photo().contentType, Form.photo().bytes) }
            let answer = try await api.send(
                method, path, headers: [stranger.bearer] + (method == "POST" ? [("Content-Type", type)] : []),
                body: method == "POST" ? body : [])
            #expect([403, 404].contains(answer.status), "\(method) \(path): \(answer.status)")
            #expect(!answer.text.contains(owner.userID.wireString))
        }
        #expect(try await api.get(Path.job(job), by: owner).status == 200)
        #expect(try await api.isAccepted(owner.token))
        #expect(try await api.count("topic_photos") + api.count("conversation_messages") == 0)
        #expect(try await api.count("topic_members") == 2)
    }

    @Test(
        .api,
        arguments: ["'; DROP TABLE users; --", "<script>alert(1)</script>", ##"\"},"admin":true,{""##, "%s%n$1 \u{FEFF}☃"])
    func `texts that are SQL, HTML or control sequences change nothing and come back as they were`(text: String) async throws {
        let device = try await api.signedInDevice()
        let body = JSONValue.members(("display_name", .string(text))).text
        let answer = try await json("PUT", "/v1/users/me", body, device)
        let account = try await api.send("GET", "/v1/users/me", headers: [device.bearer])
        #expect(answer.status == 200 && account.status == 200)
        #expect(account.json.text("data.display_name") == answer.json.text("data.display_name"))
        #expect(account.json.text("data.display_name") == text)
        #expect(account.header("Content-Type") == "application/json")
        #expect(account.json["data"]?["admin"] == nil)
        // Unlike the name, which is sealed, the version of an app reaches the database as a text.
        let app = JSONValue.members(("device_token", .string(Form.pushToken)), ("platform", "ios"), ("app_version", .string(text)))
        let registered = try await json("POST", Device.path, app.text, device)
        let isVisible = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        #expect(registered.refusal == (isVisible ? "200 -" : "400 invalid_request app_version"))
        let versions = try await api.postgres.query("SELECT app_version FROM push_installs WHERE platform = 'ios'")
        #expect(try versions.column("app_version", as: String.self) == (isVisible ? [text] : []))
        let refused = try await api.post("/v1/auth/register", JSONValue.members(("email", .string(text))).text)
        #expect(refused.refusal == "400 invalid_email email")
        #expect(try await api.count("users") == 1)
    }

    @Test(.api) func `no table has an e-mail in plain text`() async throws {
        let email = "canary-8d1e@example.org"
        let device = try await api.signedInDevice(email: email)
        _ = try await api.start(Path.signUp, .signUp(email: email))
        let tables = try await api.dumpTables()
        #expect(tables.contains(device.userID.wireString), "the dump has what is there")
        let bytes = Array(email.utf8)
        for spelling in [email, Hex.encode(bytes), Data(bytes).base64EncodedString(), Hex.encode(SHA256.hash(email))] {
            #expect(!tables.contains(spelling))
        }
    }
}
