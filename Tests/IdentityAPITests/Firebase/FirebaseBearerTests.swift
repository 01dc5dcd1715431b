import Accounts
import FCMEmulator
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The requests of an app whose users sign in with Firebase, as the iOS app for pictures sends them (image jobs, device tokens), the one
/// for background uploads (request ids that are repeated) and the one for conversations (presence, receipts, sign-out).
@Suite struct FirebaseBearerTests {
    private static let phone = "cAbCdEfGhIjKlMnOpQrSt1"
    private static let presence = "/v1/users/me/presence"

    @Test func `a picture is ordered once, repeated, fetched, listed and deleted`() async throws {
        try await FirebaseFixture.with { firebase in
            let (ada, ben) = (try await firebase.person("ada"), try await firebase.person("ben"))
            let requestID = [(name: "X-Request-ID", value: UUID().uuidString)]
            let first = try await firebase.api.order(by: ada, headers: requestID)
            #expect(first.status == 202)
            let again = try await firebase.api.order(by: ada, headers: requestID)
            #expect(again.body == first.body && again.header("Idempotent-Replayed") == "true")
            let job = try #require(first.json.text("data.job_id").flatMap { UUID(uuidString: $0) })
            try await firebase.api.complete(job)
            #expect(try await firebase.api.get(Path.job(job), by: ada).json.text("data.status") == "completed")
            #expect(try await firebase.api.get(Path.job(job), by: ben).status == 403)
            let listed = try await firebase.list(ada.token).json.value("data.jobs")?.elements
            #expect(listed?.count == 1)
            #expect(try await firebase.api.send("DELETE", Path.job(job), headers: [ada.bearer]).status == 204)
        }
    }

    @Test func `the push token of an order and that of a registration belong to the account`() async throws {
        try await FirebaseFixture.with { firebase in
            let ada = try await firebase.person("ada")
            let order = Order().with(#""device_token":"\#(Self.phone):one""#)
            #expect(try await firebase.api.order(order, by: ada).status == 202)
            let check = try await firebase.api.check()
            #expect(try await firebase.api.confirm(check.id, check.nonce, by: ada).status == 200)
            #expect(try await firebase.api.installs().map(\.userID) == [ada.userID])
            #expect(try await firebase.api.register("\(Self.phone):two", by: ada).status == 200)
            #expect(try await firebase.api.installs().map(\.generation) == [2])
        }
    }

    @Test func `a device sets its presence and confirms pushes, and both end with the sign-out`() async throws {
        try await FirebaseFixture.with { firebase in
            let ada = try await firebase.person("ada")
            #expect(try await firebase.api.send("PUT", Chat.path + "/members/me", headers: [ada.bearer]).status == 200)
            let show = #"{"conversation_id":"c-1"}"#
            let early = try await firebase.json("PUT", Self.presence, show, by: ada, on: Self.phone)
            #expect(early.refusal == "409 device_not_registered", "the installation is not registered yet")
            #expect(try await firebase.api.register("\(Self.phone):one", by: ada).status == 200)
            #expect(try await firebase.json("PUT", Self.presence, show, by: ada, on: Self.phone).status == 200)
            #expect(try await firebase.json("PUT", Self.presence, show, by: ada, on: "\(Self.phone):one").status == 200)
            #expect(try await firebase.api.json("PUT", Self.presence, show, by: ada).refusal == "409 device_not_registered")
            #expect(try await firebase.api.count("push_presence") == 1)

            let id = try await firebase.api.notification(for: ada)
            let receipt = #"[{"notification_id":"\#(id)","event":"opened"}]"#
            let counted = try await firebase.json("POST", "/v1/notifications/receipts", receipt, by: ada, on: Self.phone)
            #expect(counted.json.number("data.counted") == 1)

            let out = try await firebase.json("POST", "/api/v1/auth/logout", by: ada, on: Self.phone)
            #expect(out.text == #"{"success":true,"code":0,"message":"Logged out","data":null}"#)
            #expect(try await firebase.api.installs().isEmpty)
            #expect(try await firebase.api.count("push_presence") == 0)
            #expect(try await firebase.json("POST", "/api/v1/auth/logout", by: ada, on: Self.phone).status == 200)
            #expect(try await firebase.list(ada.token).status == 200, "the provider's token ends with its expiry")
        }
    }

    @Test func `an installation counts only for the account that it is registered to`() async throws {
        try await FirebaseFixture.with { firebase in
            let (ada, eve) = (try await firebase.person("ada"), try await firebase.person("eve"))
            #expect(try await firebase.api.register("\(Self.phone):one", by: ada).status == 200)
            let show = #"{"conversation_id":null}"#
            let refused = try await firebase.json("PUT", Self.presence, show, by: eve, on: Self.phone)
            #expect(refused.refusal == "409 device_not_registered")
            #expect(try await firebase.json("POST", "/api/v1/auth/logout", by: eve, on: Self.phone).status == 200)
            #expect(try await firebase.json("DELETE", Device.path, by: eve, on: Self.phone).status == 204)
            #expect(try await firebase.api.installs().map(\.userID) == [ada.userID])
            #expect(try await firebase.json("DELETE", Device.path, by: ada, on: Self.phone).status == 204)
            #expect(try await firebase.api.installs().isEmpty)
        }
    }

    @Test func `topics, messages and the profile work`() async throws {
        try await FirebaseFixture.with { firebase in
            let chat = Chat(
                api: firebase.api, ada: try await firebase.person("ada"), ben: try await firebase.person("ben"),
                eve: try await firebase.api.customer("eve"))
            let name = try await firebase.api.json("PUT", "/v1/users/me", #"{"display_name":"Ada"}"#, by: chat.ada)
            #expect(name.status == 200)
            #expect(try await firebase.api.send("PUT", Chat.path + "/members/me", headers: [chat.ada.bearer]).status == 200)
            try await firebase.api.bring(chat.ben, to: Chat.path, by: chat.ada)
            try await firebase.api.bring(chat.eve, to: Chat.path, by: chat.ada)
            try await chat.say("Dinner at eight?", "m-1", by: chat.ada)
            try await chat.say("Yes", "m-2", by: chat.eve)
            #expect(try await chat.read(by: chat.ben).status == 200)
            #expect(try await chat.pushes().count == 2)
        }
    }

    @Test func `a sign-up enrols a face for the account, and its result is the account's`() async throws {
        try await FirebaseFixture.with { firebase in
            let ada = try await firebase.person("ada")
            let response = try await firebase.api.send(.signUp(email: nil), to: Path.signUp, headers: [ada.bearer])
            let id = try #require(response.json.text("data.session_id").flatMap { UUID(uuidString: $0) })
            let session = try #require(try await SessionRepository(firebase.api.postgres).find(id: id))
            #expect(session.authorised && session.authorisedBy == nil && session.userID == ada.userID && session.email == nil)
        }
    }

    @Test func `signing out everywhere refuses the tokens of earlier sign-ins, and keeps the current one if it is asked to`() async throws {
        try await FirebaseFixture.with { firebase in
            let now = Int(Date().timeIntervalSince1970)
            let old = try await firebase.token(of: "ada") { $0.signedInAt = now - 1_000 }
            let current = try await firebase.token(of: "ada") { $0.signedInAt = now - 500 }
            let bearer = [(name: "Authorization", value: "Bearer \(current)")]
            #expect(try await firebase.list(old).status == 200)
            let path = IdentityFixture.sessions
            #expect(try await firebase.api.send("DELETE", path + "?except=current", headers: bearer).status == 204)
            #expect(try await firebase.list(old).status == 401)
            #expect(try await firebase.list(current).status == 200)
            #expect(try await firebase.api.send("DELETE", path, headers: bearer).status == 204)
            #expect(try await firebase.list(current).status == 401)
        }
    }

    @Test func `an upload whose sign-in was revoked while its body was sent is refused`() async throws {
        try await FirebaseFixture.with { firebase in
            let ada = try await firebase.person("ada")
            let form = Form.signUp(email: nil)
            let upload = try RawConnection(port: firebase.api.port)
            try await upload.post(
                Path.signUp, type: form.contentType, length: form.bytes.count, "Authorization: Bearer \(ada.token)", "Expect: 100-continue")
            #expect(try await upload.receive(until: "\r\n\r\n")?.contains("100 Continue") == true)
            #expect(try await firebase.api.send("DELETE", IdentityFixture.sessions, headers: [ada.bearer]).status == 204)
            try await upload.send(form.bytes)
            let answer = try #require(try await upload.receive(until: "\"meta\""))
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            #expect(try await firebase.api.count("sessions") == 0)
        }
    }

    @Test func `a face needs a recent sign-in, the first one too`() async throws {
        try await FirebaseFixture.with { firebase in
            let ada = try await firebase.person("ada")
            let old = try await firebase.token(of: "ada") { $0.signedInAt = Int(Date().timeIntervalSince1970) - 400 }
            let bearer = [(name: "Authorization", value: "Bearer \(old)")]
            let refused = try await firebase.api.send(.signUp(email: nil), to: Path.signUp, headers: bearer)
            #expect(refused.refusal == "403 reauthentication_required")
            #expect(try await firebase.api.send(.signUp(email: nil), to: Path.signUp, headers: [ada.bearer]).status == 200)
        }
    }

    @Test func `a sign-in with an identity provider has no key, and confirms no sign-in`() async throws {
        try await FirebaseFixture.with { firebase in
            let (ada, device) = (try await firebase.person("ada"), try DeviceSigner())
            let path = "\(WaitingDevice.list)/\(UUID().wireString)"
            let refused = try await firebase.api.send("DELETE", path, by: device, bearer: ada.token)
            #expect(refused.refusal == "401 device_key_required")
        }
    }
}
