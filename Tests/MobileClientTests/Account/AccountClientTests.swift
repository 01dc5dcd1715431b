import Foundation
import Testing

@testable import MobileClient

@Suite struct AccountClientTests {
    private static let id = UUID()

    /// A client whose only answer is this one.
    private func client(_ json: String, status: Int = 200) -> (AccountClient, ScriptedSender) {
        let sender = ScriptedSender { _ throws(HeliographError) in .json(json, status: status) }
        return (AccountClient(api: sender), sender)
    }

    @Test func `a code is entered without the blanks that people type, and its request may be repeated`() async throws {
        let (account, sender) = client(
            #"{"success":true,"data":{"purpose":"registration","enrolment_token":"t","token_type":"Bearer","expires_in":900}}"#)
        let verified = try await account.verify(Self.id, code: " 123 456\n")
        #expect(verified == .registration(enrolmentToken: "t", expiresIn: 900))
        let sent = try #require(await sender.sent.first)
        #expect(sent.body == Data(#"{"code":"123456","verification_id":"\#(Self.id.uuidString.lowercased())"}"#.utf8))
        #expect(sent.idempotencyKey != nil && sent.bearer == "none")
    }

    @Test func `a purpose that is not known here is kept`() async throws {
        let (account, _) = client(#"{"success":true,"data":{"purpose":"passkey","challenge":"x"}}"#)
        #expect(try await account.verify(Self.id, code: "123456") == .other(purpose: "passkey"))
    }

    @Test func `a mail is asked for once, however unsure its outcome is`() {
        #expect(!AuthRequests.register(email: "a@example.org", displayName: nil).isRepeatable)
        #expect(!AuthRequests.resend(Self.id).isRepeatable)
    }

    @Test func `no name is sent as null, which is not the same as missing`() async throws {
        let (account, sender) = client(#"{"success":true,"data":{"user_id":"\#(Self.id)","display_name":null}}"#)
        #expect(try await account.setDisplayName(nil) == nil)
        #expect(await sender.sent.first?.body == Data(#"{"display_name":null}"#.utf8))
    }

    @Test func `without a consent there is none, and one without a text is no answer`() async throws {
        #expect(try await client(#"{"success":true,"data":{"required":false}}"#).0.consent() == nil)
        let consent = try await client(
            #"{"success":true,"data":{"required":true,"consent_version":"1","consent_sha256":"ab","text":"T"}}"#
        ).0.consent()
        #expect(consent == AccountClient.Consent(version: "1", sha256: "ab", text: "T"))
        let error = await #expect(throws: HeliographError.self) {
            try await client(#"{"success":true,"data":{"required":true,"consent_version":"1"}}"#).0.consent()
        }
        #expect(error?.code == .unexpectedAnswer)
    }

    @Test func `a sign-in that is not there any more has been ended`() async throws {
        let sender = ScriptedSender { _ throws(HeliographError) in throw HeliographError(.notFound, "Session not found", status: 404) }
        try await AccountClient(api: sender).endSignIn(Self.id)
        #expect(await sender.sent.map(\.path) == ["/v1/users/me/sessions/\(Self.id.uuidString.lowercased())"])
    }

    @Test func `only the sign-ins of other devices are ended with the query`() async throws {
        let (account, sender) = client("", status: 204)
        try await account.endOtherSignIns()
        try await account.endAllSignIns()
        #expect(await sender.sent.map(\.query) == [[URLQueryItem(name: "except", value: "current")], []])
    }

    @Test func `a state of a recovery that is not known here is kept`() async throws {
        let recovery = try await client(#"{"success":true,"data":{"state":"paused"}}"#).0.recovery()
        #expect(recovery.state.rawValue == "paused" && recovery.takesEffectAt == nil)
    }

    @Test func `unknown members of an answer are ignored, and an answer of another kind is an error`() async throws {
        let blocks = #"{"success":true,"data":{"blocks":[{"user_id":"\#(Self.id)","created_at":"2027-01-15T08:00:00.5Z","why":1}],"n":1}}"#
        let expected = AccountClient.ListedPerson(userID: Self.id, createdAt: Date(timeIntervalSince1970: 1_800_000_000.5))
        #expect(try await client(blocks).0.blocks() == [expected])
        for text in ["", "<html>", "{}", #"{"success":true,"data":null}"#, #"{"data":{"blocks":[{"user_id":"x"}]}}"#] {
            let error = await #expect(throws: HeliographError.self) { try await client(text).0.blocks() }
            #expect(error?.code == .unexpectedAnswer, "\(text)")
        }
    }
}
