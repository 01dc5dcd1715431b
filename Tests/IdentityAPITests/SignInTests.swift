import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

extension SignedInDevice {
    var bearer: (name: String, value: String) { ("Authorization", "Bearer \(accessToken)") }
}

extension IdentityFixture {
    static let sessions = "/v1/users/me/sessions"
    static let secondPhone = "c2bbbbbbbbbbbbbbbbbbbb:APA91bExampleToken"

    /// The listed sign-ins of a device's account.
    func signIns(_ device: SignedInDevice) async throws -> [JSONValue] {
        let response = try await send("GET", Self.sessions, headers: [device.bearer])
        guard response.status == 200, let list = response.json.value("data.sessions")?.elements else {
            throw UnexpectedAnswer(response: response)
        }
        return list
    }

    /// The id of a device's own sign-in.
    func signInID(_ device: SignedInDevice) async throws -> String {
        try #require(try await signIns(device).first { $0.value("current")?.boolean == true }?.text("session_id"))
    }

    /// Lets a device's sign-in be older.
    func age(_ device: SignedInDevice, by seconds: Int) async throws {
        try await postgres.execute(
            """
            UPDATE access_tokens SET signed_in_at = signed_in_at - make_interval(secs => \(Double(seconds)))
            WHERE access_hash = \(OpaqueToken.hash(device.accessToken))
            """)
    }

    func audit(_ user: UUID) async throws -> [AuditRecord] {
        try await AuditRepository(postgres).find(.user(user), since: .distantPast, limit: 100)
    }
}

@Suite struct SignInTests {
    @Test(.api) func `The list says on which devices the account is signed in, and which of them asks`() async throws {
        let phone = try await api.signedInDevice()
        let tablet = try await api.signIn(pushToken: IdentityFixture.secondPhone)
        let body = #"{"device_token":"\#(IdentityFixture.secondPhone)","platform":"android","app_version":"3.1","locale":"pt-BR"}"#
        let registered = try await api.send(
            "POST", "/v1/users/device-token", headers: [tablet.bearer, ("Content-Type", "application/json")], body: Array(body.utf8))
        #expect(registered.status == 200)
        let list = try await api.signIns(phone)
        #expect(list.count == 2)
        #expect(list.map { $0.value("current")?.boolean } == [false, true])
        #expect(list[0].text("device.platform") == "android")
        #expect(list[0].text("device.app_version") == "3.1")
        #expect(list[0].text("device.locale") == "pt-BR")
        #expect(list[1].value("device.platform") == .null)
        let names = ["session_id", "device", "created_at", "last_used_at", "expires_at", "current"]
        #expect(list[0].members?.map(\.name) == names)
    }

    @Test(.api) func `A user signs a lost device out: its tokens end, its pushes end, and a repetition changes nothing`() async throws {
        let phone = try await api.signedInDevice()
        let lost = try await api.signIn(pushToken: IdentityFixture.secondPhone)
        let path = "\(IdentityFixture.sessions)/\(try await api.signInID(lost))"
        for _ in 1...2 {
            let response = try await api.send("DELETE", path, headers: [phone.bearer])
            #expect(response.status == 204 && response.text.isEmpty)
        }
        #expect(try await !api.isAccepted(lost.accessToken))
        #expect(try await api.refresh(lost.refreshToken).refusal == "401 unauthorized")
        #expect(try await api.isAccepted(phone.accessToken))
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL") == 1)
        #expect(try await api.audit(phone.userID).count { $0.action == "sign_in_ended" } == 1)
    }

    @Test(.api) func `Another user's sign-in is as unknown as one that never was`() async throws {
        let (mine, theirs) = (
            try await api.signedInDevice(), try await api.signedInDevice(email: "other@example.org")
        )
        for id in [try await api.signInID(theirs), UUID().wireString, "nonsense"] {
            let response = try await api.send("DELETE", "\(IdentityFixture.sessions)/\(id)", headers: [mine.bearer])
            #expect(response.refusal == "404 not_found")
        }
        #expect(try await api.isAccepted(theirs.accessToken))
    }

    @Test(.api) func `A user signs all other devices out, and then the last one`() async throws {
        let phone = try await api.signedInDevice()
        let others = [
            try await api.signIn(pushToken: IdentityFixture.secondPhone),
            try await api.signIn(pushToken: "c3cccccccccccccccccccc:APA91bExampleToken"),
        ]
        #expect(
            try await api.send("DELETE", IdentityFixture.sessions + "?except=phone", headers: [phone.bearer]).refusal
                == "400 invalid_request except")
        #expect(try await api.send("DELETE", IdentityFixture.sessions + "?except=current", headers: [phone.bearer]).status == 204)
        for other in others { #expect(try await !api.isAccepted(other.accessToken)) }
        #expect(try await api.signIns(phone).count == 1)
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL") == 1)
        #expect(try await api.send("DELETE", IdentityFixture.sessions, headers: [phone.bearer]).status == 204)
        #expect(try await !api.isAccepted(phone.accessToken))
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL") == 0)
        let details = try await api.audit(phone.userID).filter { $0.action == "sign_ins_ended" }.map(\.detail)
        #expect(details == ["all_but_current", "all"])
    }

    @Test(.api) func `Signing out everywhere silences the conversation that a phone shows`() async throws {
        let phone = try await api.signedInDevice()
        let json = (name: "Content-Type", value: "application/json")
        #expect(try await api.send("PUT", "/v1/topics/conversation:c/members/me", headers: [phone.bearer]).status == 200)
        let shown = try await api.send(
            "PUT", "/v1/users/me/presence", headers: [phone.bearer, json], body: Array(#"{"conversation_id":"c"}"#.utf8))
        #expect(shown.status == 200)
        #expect(try await api.count("push_presence") == 1)
        #expect(try await api.send("DELETE", IdentityFixture.sessions, headers: [phone.bearer]).status == 204)
        #expect(try await api.count("push_presence") == 0)
    }

    @Test(.api) func `A sign-in that was uploaded before everything was signed out gives no tokens`() async throws {
        let phone = try await api.signedInDevice()
        let session = try await api.start(Path.login, .signIn().with("fcm_token", IdentityFixture.secondPhone))
        try await api.decide(session.id, .succeeded)
        #expect(try await api.send("DELETE", IdentityFixture.sessions, headers: [phone.bearer]).status == 204)
        #expect(try await api.redeem(session).refusal == "403 forbidden")
        _ = try await api.signIn(pushToken: IdentityFixture.secondPhone)
    }

    @Test(.api)
    func `A stolen refresh token used after the owner refreshed revokes the family; the owner's own retry within 30 s does not`()
        async throws
    {
        let owner = try await api.signedInDevice()
        let next = try await api.refresh(owner.refreshToken)
        let access = try #require(next.json.text("access_token"))
        #expect(try await api.refresh(owner.refreshToken).json.text("access_token") == access, "the owner's retry")
        #expect(try await api.isAccepted(access))
        _ = try await api.refresh(try #require(next.json.text("refresh_token")))
        #expect(try await api.refresh(owner.refreshToken).refusal == "401 unauthorized", "the thief's copy")
        #expect(try await api.count("access_tokens WHERE revoked_at IS NULL") == 0)
        let reused = try #require(try await api.audit(owner.userID).last)
        #expect([reused.action, reused.result, reused.actorKind] == ["refresh_token_reused", "refused", "anonymous"])
    }

    @Test(.api)
    func `A stolen refresh token used 30 s after the owner refreshed revokes the family, also while the owner's new pair is unused`()
        async throws
    {
        let owner = try await api.signedInDevice()
        let access = try #require(try await api.refresh(owner.refreshToken).json.text("access_token"))
        try await api.postgres.execute("UPDATE access_tokens SET revoked_at = revoked_at - interval '20 seconds'")
        #expect(try await api.refresh(owner.refreshToken).json.text("access_token") == access)
        try await api.postgres.execute("UPDATE access_tokens SET revoked_at = revoked_at - interval '11 seconds'")
        #expect(try await api.refresh(owner.refreshToken).refusal == "401 unauthorized")
        #expect(try await !api.isAccepted(access))
    }

    @Test(.api { $0.signIns = SignInLifetimes(access: .seconds(60), idle: .seconds(600), total: .seconds(900)) })
    func `A sign-in ends when it is idle for too long, or too old, refreshed or not`() async throws {
        let phone = try await api.signedInDevice()
        let next = try await api.refresh(phone.refreshToken)
        #expect(next.json.number("expires_in") == 60)
        try await api.postgres.execute("UPDATE access_tokens SET signed_in_at = signed_in_at - interval '890 seconds'")
        let last = try await api.refresh(try #require(next.json.text("refresh_token")))
        #expect((1...10).contains(last.json.number("expires_in") ?? 0), "no token outlives the sign-in")
        try await api.postgres.execute("UPDATE access_tokens SET signed_in_at = signed_in_at - interval '10 seconds'")
        #expect(try await api.refresh(try #require(last.json.text("refresh_token"))).refusal == "401 unauthorized")
    }

    @Test(.api) func `The audit log has what a sign-in did, with its request and without its secrets`() async throws {
        let phone = try await api.signedInDevice()
        #expect(try await api.logout(phone.accessToken).status == 200)
        let records = try await api.audit(phone.userID)
        #expect(records.suffix(2).map(\.action) == ["signed_in", "signed_out"])
        #expect(records.suffix(2).allSatisfy { $0.actorID == phone.userID.wireString && $0.requestID != nil && $0.addressKey?.count == 32 })
        let text = try await api.postgres.query("SELECT string_agg(a::text, ' ') AS text FROM audit_log a")[0]
            .decode("text", as: String.self)
        for secret in ["example.org", phone.accessToken, phone.refreshToken, "127.0.0.1"] { #expect(!text.contains(secret)) }
    }
}

@Suite struct StepUpTests {
    private func enrol(_ device: SignedInDevice, _ headers: [(name: String, value: String)] = []) async throws -> HTTPClientResponse {
        try await api.send(.signUp(email: nil), to: Path.signUp, headers: [device.bearer] + headers)
    }

    @Test(.api) func `A face is replaced only within five minutes of a sign-in, refreshed or not`() async throws {
        let phone = try await api.signedInDevice()
        try await api.age(phone, by: 290)
        #expect(try await enrol(phone).status == 200)
        try await api.age(phone, by: 11)
        let refused = try await enrol(phone)
        #expect(refused.refusal == "403 reauthentication_required")
        #expect(refused.json.number("code") == 1107)
        let next = try await api.refresh(phone.refreshToken)
        let refreshed = SignedInDevice(userID: phone.userID, accessToken: next.json.text("access_token") ?? "", refreshToken: "")
        #expect(try await enrol(refreshed).refusal == "403 reauthentication_required", "a refresh is no sign-in")
        #expect(try await api.isAccepted(refreshed.accessToken))
        #expect(try await enrol(try await api.signIn()).status == 200)
    }

    @Test(.api) func `A sign-up that was answered in time is answered again later, and starts nothing`() async throws {
        let phone = try await api.signedInDevice()
        let key = (name: "Idempotency-Key", value: "k1")
        let form = Form.signUp(email: nil)
        let first = try await api.send(form, to: Path.signUp, headers: [phone.bearer, key])
        try await api.age(phone, by: 301)
        let sessions = try await api.count("sessions")
        let again = try await api.send(form, to: Path.signUp, headers: [phone.bearer, key])
        #expect(again.text == first.text && again.header("Idempotent-Replayed") == "true")
        #expect(try await enrol(phone, [("Idempotency-Key", "k2")]).refusal == "403 reauthentication_required")
        let stranger = try await api.signedInDevice(email: "other@example.org")
        try await api.age(stranger, by: 301)
        let counted = try await api.count("sessions")
        #expect(try await enrol(stranger, [key]).refusal == "403 reauthentication_required", "the key of another user's answer")
        #expect(try await api.count("sessions") == counted && counted > sessions)
    }

    @Test func `A sign-in is recent for exactly five minutes, and an unknown time never is`() throws {
        let now = Date()
        func isRecent(_ date: Date?) -> Bool {
            let identity = Identity(userID: UUID(), authenticatedAt: date)
            return (try? identity.requireRecentSignIn(now: now)) != nil
        }
        #expect(isRecent(now))
        #expect(isRecent(now.addingTimeInterval(-300)))
        #expect(!isRecent(now.addingTimeInterval(-300.1)))
        #expect(!isRecent(nil))
    }
}
