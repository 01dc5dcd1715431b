import Accounts
import BlobStore
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import NIOCore
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct UploadTests {
    @Test(.api) func `A sign-up with an e-mail is answered exactly as the apps expect`() async throws {
        let response = try await api.send(.signUp(), to: Path.signUp, headers: [("X-Request-ID", "abc-123")])
        let id = try #require(response.json.text("data.session_id"))
        #expect(response.status == 200)
        #expect(
            response.text
                == #"{"success":true,"code":0,"message":"Photos uploaded successfully","data":{"session_id":"\#(id)"}}"#)
        #expect(id == UUID(uuidString: id)?.wireString)
        #expect(response.header("Content-Type") == "application/json")
        #expect(response.header("X-Request-ID") == "abc-123")
        #expect(response.header("X-Session-Token")?.count == 43)
    }

    @Test(.api) func `A sign-in is answered exactly as the apps expect`() async throws {
        let response = try await api.send(.signIn(), to: Path.login)
        let id = try #require(response.json.text("data.session_id"))
        #expect(
            response.text == #"{"success":true,"code":0,"message":"Login event published successfully","#
                + #""data":{"session_id":"\#(id)"}}"#)
        #expect(UUID(uuidString: response.header("X-Request-ID") ?? "") != nil)
    }

    @Test(.api) func `Unknown fields and files are ignored and not stored`() async throws {
        let form = Form.signIn().with("comment", String(repeating: "a", count: 100_000)).adding("left_faces", 3)
        let response = try await api.send(form, to: Path.login)
        #expect(response.status == 200)
        #expect(api.storedFiles().count == 3)
    }

    @Test(.api) func `A sign-up stores its session, its sealed photos and its event`() async throws {
        let form = Form.signUp(email: "  Somebody@Example.ORG ")
        let (id, token) = try await api.start(Path.signUp, form)
        let session = try #require(try await SessionRepository(api.postgres).find(id: id))
        let email = try #require(EmailAddress("somebody@example.org"))
        #expect(session.state == .received)
        #expect(!session.authorised)
        #expect(session.userID != api.keys.attemptKeys(email)[0], "ids of accounts are random")
        #expect(session.email?.lookups == api.keys.emailLookups(email))
        #expect(try await api.count("users") == 0, "an account is made with its face")
        #expect(session.tokenHash == OpaqueToken.hash(token))
        #expect(session.photos.map(\.pose) == [.left, .left, .left, .right, .right, .right, .front, .front, .front])
        let blobs = try api.context.blobStore(.faces)
        let sent = form.parts.filter { $0.filename != nil }.map(\.data)
        for (photo, data) in zip(session.photos, sent) {
            #expect(try await blobs.read(try BlobKey(photo.key), limit: 100_000) == data)
            #expect(photo.sha256 == Hex.encode(SHA256.hash(data)))
        }
        let installID = try #require(session.installID)
        let install = try #require(try await PushInstallRepository(api.postgres).find(ids: [installID]).first)
        #expect(install.userID == nil && install.installationKey == session.installationKey)
        let opened = try api.context.sealer(.tokens).open(
            install.valueSealed, context: PushInstall.sealingContext(installationKey: install.installationKey))
        #expect(String(decoding: opened, as: UTF8.self) == Form.pushToken)
        let outbox = try await api.postgres.query("SELECT stream, key, convert_from(body, 'UTF8') AS body FROM outbox")
        #expect(outbox.count == 1)
        #expect(try outbox[0].decode("stream", as: String.self) == "ekyc.requested")
        #expect(try outbox[0].decode("key", as: String.self) == id.wireString)
    }

    @Test(.api) func `A known and an unknown e-mail leave the same traces`() async throws {
        try await api.signUp("known@example.org")
        let known = try await api.start(Path.login, .signIn(email: "known@example.org"))
        let unknown = try await api.start(Path.login, .signIn(email: "nobody@example.org"))
        let sessions = try await SessionRepository(api.postgres).find(ids: [known.id, unknown.id])
        #expect(sessions.count == 2)
        #expect(Set(sessions.map(\.userID)).count == 2)
        #expect(sessions.allSatisfy { $0.state == .received && $0.photos.count == 3 && $0.installID != nil })
        #expect(try await api.count("users") == 1)
        #expect(try await api.count("outbox") == 3)
    }

    @Test(.api) func `A sign-up leaves the same traces whether its e-mail has an account or not`() async throws {
        try await api.signUp("known@example.org")
        let known = try await api.start(Path.signUp, .signUp(email: "known@example.org"))
        let unknown = try await api.start(Path.signUp, .signUp(email: "nobody@example.org"))
        let sessions = try await SessionRepository(api.postgres).find(ids: [known.id, unknown.id])
        #expect(sessions.allSatisfy { $0.state == .received && $0.photos.count == 9 && $0.email != nil && !$0.authorised })
        #expect(try await api.count("users") == 1)
        for id in [known.id, unknown.id] { try await api.decide(id, .failed(.noFace)) }
        let decided = try await SessionRepository(api.postgres).find(ids: [known.id, unknown.id])
        #expect(decided.allSatisfy { $0.email == nil }, "nothing is kept of the e-mail of a decided session")
    }

    @Test(.api) func `Sign-ins of an e-mail are counted together before and after it has an account`() async throws {
        _ = try await api.start(Path.login, .signIn(email: "x@example.org"))
        try await api.signUp("x@example.org")
        _ = try await api.start(Path.login, .signIn(email: "x@example.org"))
        let rows = try await api.postgres.query("SELECT attempt_key, user_id FROM sessions WHERE event = 'sign_in'")
        #expect(Set(try rows.column("attempt_key", as: UUID.self)).count == 1)
        #expect(Set(try rows.column("user_id", as: UUID.self)).count == 2)
    }

    @Test(.api) func `A sign-up with a bearer belongs to the bearer's account`() async throws {
        let device = try await api.signedInDevice()
        let response = try await api.send(
            .signUp(email: nil), to: Path.signUp, headers: [("Authorization", "Bearer \(device.accessToken)")])
        let id = try #require(UUID(uuidString: response.json.text("data.session_id") ?? ""))
        let session = try #require(try await SessionRepository(api.postgres).find(id: id))
        #expect(session.authorised)
        #expect(session.userID == device.userID)
        let bearer = try await AccessTokenRepository(api.postgres).find(accessHash: OpaqueToken.hash(device.accessToken))
        #expect(session.authorisedBy == (try #require(bearer)).familyID)
    }

    @Test(.api) func `Parts are accepted in any order and with names in any notation`() async throws {
        var form = Form.signIn()
        form.parts.reverse()
        form.boundary = String(repeating: "'()+_,-./:=?", count: 5)
        form.declaredBoundary = "\"\(form.boundary)\""
        form.parts[0].filename = "写真 \u{22}.jpg".replacingOccurrences(of: "\"", with: "%22")
        let response = try await api.send(form, to: Path.login)
        #expect(response.status == 200)
    }

    @Test(
        .api {
            $0.uploads.concurrentUploads = 1
            $0.connection.patience = .minutes(5)
        })
    func `Uploads over the limit are refused with Retry-After`() async throws {
        let form = Form.signIn()
        let first = try RawConnection(port: api.port)
        try await first.post(Path.login, type: form.contentType, length: form.bytes.count, "Expect: 100-continue")
        #expect(try await first.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        let refused = try await api.send(.signIn(), to: Path.login)
        #expect(refused.refusal == "503 overloaded")
        #expect(refused.header("Retry-After") == "2")
        #expect(refused.json.value("error.retryable") == true)
        try await first.send(form.bytes)
        #expect(try await first.receive(until: "session_id")?.hasPrefix("HTTP/1.1 200") == true)
        #expect(try await api.send(.signIn(), to: Path.login).status == 200)
    }
}
