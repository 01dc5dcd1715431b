import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The pushes that ask for the confirmation of a sign-in on a new device.
@Suite struct SignInConfirmationPushTests {
    @Sendable private static func askForCodes(_ configuration: inout IdentityAPIConfiguration) {
        configuration.deviceKeys.newDevices = .code
    }

    @Test(.apiWithMail(askForCodes))
    func `a sign-in that waits causes one push, and asking again causes neither push nor mail`() async throws {
        let waiting = try await api.waitingDevice()
        let mails = try await api.count("code_mails")
        for _ in 1...3 { #expect(try await api.redeem(waiting.session).refusal == "403 verification_required code") }
        let pushes = try await api.confirmationPushes()
        #expect(pushes.map(\.recipient) == [.user(waiting.owner.userID)])
        let push = try #require(pushes.first)
        #expect(push.content == .signInConfirmation(SignInConfirmationPush(sessionID: waiting.session.id, userID: waiting.owner.userID)))
        #expect(push.lane == .urgent)
        #expect((500...600).contains(push.expiresAt.timeIntervalSinceNow), "it ends with the code")
        #expect(!String(decoding: push.content.encoded(), as: UTF8.self).contains(waiting.reference))
        #expect(try await api.count("code_mails") == mails)
    }

    @Test(.apiWithMail(askForCodes)) func `another code for the same sign-in causes no other push`() async throws {
        let waiting = try await api.waitingDevice()
        let id = waiting.session.id
        try await api.postgres.execute("UPDATE email_verifications SET mailed_at = mailed_at - interval '61 seconds' WHERE id = \(id)")
        try await api.forgetMails()
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id.wireString)"}"#).status == 202)
        #expect(try await api.count("email_verifications WHERE code_number = 2") == 1)
        #expect(try await api.confirmationPushes().count == 1)
    }

    @Test(.apiWithMail(askForCodes)) func `an account without a device that could confirm gets no push`() async throws {
        let key = try DeviceSigner()
        let owner = try await api.verifiedSignIn(by: key)
        func pushes(_ change: PostgresQuery) async throws -> Int {
            try await api.postgres.execute(change)
            try await api.forgetMails()
            _ = try await api.anotherSignIn(of: owner, key)
            return try await api.confirmationPushes().count
        }
        #expect(try await pushes("UPDATE access_tokens SET revoked_at = now()") == 0, "its sign-in has ended")
        #expect(try await pushes("UPDATE access_tokens SET revoked_at = NULL, device_key = NULL, device_key_storage = NULL") == 0)
        let hash = Array(repeating: UInt8(1), count: 32)
        #expect(try await pushes("UPDATE access_tokens SET device_key = \(hash), device_key_storage = 'software'") == 1)
        #expect(try await pushes("UPDATE push_installs SET state = 'invalid', invalid_at = now()") == 1, "its token is dead")
    }

    @Test(.apiWithMail(askForCodes)) func `a push waits for the turn of its mail`() async throws {
        let key = try DeviceSigner()
        let owner = try await api.verifiedSignIn(by: key)
        let waiting = try await api.anotherSignIn(of: owner, key)
        #expect(try await api.confirmationPushes().isEmpty)
        try await api.forgetMails()
        try await eventually("the mail is published") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        #expect(try await api.confirmationPushes().map(\.dedupeKey) == [SignInConfirmationPush.dedupeKey(about: waiting.session.id)])
        #expect(try await api.confirm(waiting).status == 204)
    }

    @Test(.apiWithMail(askForCodes)) func `a mail with several sign-ins causes one push, about the newest`() async throws {
        let key = try DeviceSigner()
        let owner = try await api.verifiedSignIn(by: key)
        _ = try await api.anotherSignIn(of: owner, key)
        let newest = try await api.anotherSignIn(of: owner, key)
        try await api.forgetMails()
        try await eventually("the mail is published") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        #expect(try await api.confirmationPushes().map(\.dedupeKey) == [SignInConfirmationPush.dedupeKey(about: newest.session.id)])
        #expect(try await api.waitingSignIns(of: owner).count == 2)
    }

    @Test(.apiWithMail(askForCodes))
    func `a site whose sign-in was denied causes no other push that day, and other sites do`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.deny(waiting).status == 204)
        try await api.forgetMails()
        let again = try await api.anotherSignIn(of: waiting.owner, waiting.key)
        #expect(try await api.confirmationPushes().count == 1)
        #expect(try await api.waitingSignIns(of: waiting.owner).map { $0.text("session_id") } == [again.session.id.wireString])
        try await api.postgres.execute("UPDATE email_verifications SET site_key = sha256('elsewhere') WHERE denied_at IS NOT NULL")
        try await api.forgetMails()
        _ = try await api.anotherSignIn(of: waiting.owner, waiting.key)
        #expect(try await api.confirmationPushes().count == 2)
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .face }) func `with the face alone there is nothing to confirm`() async throws {
        let owner = try await api.signedInDevice(try DeviceSigner())
        _ = try await api.signIn(pushToken: IdentityFixture.secondPhone)
        #expect(try await api.confirmationPushes().isEmpty)
        #expect(try await api.waitingSignIns(of: owner).isEmpty)
    }
}
