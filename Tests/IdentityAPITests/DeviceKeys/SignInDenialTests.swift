import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Sign-ins on new devices that are denied on a device with a key, and what happens at the same time.
@Suite struct SignInDenialTests {
    @Sendable private static func askForCodes(_ configuration: inout IdentityAPIConfiguration) {
        configuration.deviceKeys.newDevices = .code
    }

    @Test(.apiWithMail(askForCodes)) func `a sign-in that is denied gives no tokens, also with the right code`() async throws {
        let waiting = try await api.waitingDevice()
        let code = try await api.code(of: waiting)
        #expect(try await api.deny(waiting).status == 204)
        #expect(try await api.redeem(waiting.session).refusal == "403 forbidden")
        #expect(try await api.enter(code, for: waiting).refusal == "403 forbidden")
        #expect(try await api.confirm(waiting).refusal == "404 not_found")
        #expect(try await api.waitingSignIns(of: waiting.owner).isEmpty)
        let resent = try await api.post("/v1/auth/resend", #"{"verification_id":"\#(waiting.session.id.wireString)"}"#)
        #expect(resent.refusal == "404 not_found verification_id", "no other code is mailed")
    }

    @Test(.apiWithMail(askForCodes)) func `a denial is repeated with the same answer, and recorded once`() async throws {
        let waiting = try await api.waitingDevice()
        for _ in 1...2 { #expect(try await api.deny(waiting).status == 204) }
        let entries = try await api.audit(waiting.owner.userID).filter { $0.action == AuditAction.signInDenied.rawValue }
        #expect(entries.map(\.objectID) == [waiting.session.id])
    }

    @Test(.apiWithMail(askForCodes)) func `an export of the account has the time of a denial`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.deny(waiting).status == 204)
        let records = try await ExportRepository(api.postgres).records(
            of: .emailVerifications, userID: waiting.owner.userID, after: nil, limit: 10)
        let denied = try records.map { try JSONValue(parsing: Array($0.json.utf8)) }.filter { $0.text("denied_at") != nil }
        #expect(denied.map { $0.text("purpose") } == ["sign_in"])
    }

    @Test(.apiWithMail(askForCodes)) func `a denial counts after a confirmation, until the tokens are given`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.confirm(waiting).status == 204)
        #expect(try await api.deny(waiting).status == 204)
        #expect(try await api.redeem(waiting.session).refusal == "403 forbidden")
        try await api.forgetMails()
        let other = try await api.anotherSignIn(of: waiting.owner, waiting.key)
        #expect(try await api.confirm(other).status == 204)
        #expect(try await api.redeem(other.session).status == 200)
        #expect(try await api.deny(other).refusal == "404 not_found", "it has its tokens")
    }

    @Test(.apiWithMail(askForCodes)) func `a sign-in that is denied gives no tokens to a device that is known meanwhile`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.deny(waiting).status == 204)
        try await api.forgetMails()
        let other = try await api.anotherSignIn(of: waiting.owner, waiting.key)
        #expect(try await api.confirm(other).status == 204)
        #expect(try await api.redeem(other.session).status == 200)
        #expect(try await api.redeem(waiting.session).refusal == "403 forbidden")
    }

    @Test(.apiWithMail(askForCodes)) func `a code that waits for its mail is not mailed after a denial`() async throws {
        let waiting = try await api.waitingDevice()
        let id = waiting.session.id
        try await api.postgres.execute("UPDATE email_verifications SET mailed_at = mailed_at - interval '61 seconds' WHERE id = \(id)")
        #expect(try await api.post("/v1/auth/resend", #"{"verification_id":"\#(id.wireString)"}"#).status == 202)
        #expect(try await api.deny(waiting).status == 204)
        try await api.forgetMails()
        try await eventually("the plan is dropped") { try await api.count("code_mails WHERE requested_at IS NULL") == 0 }
        #expect(try await api.count("email_verifications WHERE id = '\(id.wireString)' AND code_number > 1") == 0)
    }

    @Test(.apiWithMail(askForCodes)) func `of a confirmation and a denial at the same time the denial holds`() async throws {
        let waiting = try await api.waitingDevice()
        let api = api
        let statuses = try await race(4) { number in
            try await (number.isMultiple(of: 2) ? api.confirm(waiting) : api.deny(waiting)).status
        }
        #expect(statuses.filter { $0 == 204 }.count >= 2)
        #expect(statuses.allSatisfy { [204, 404].contains($0) })
        #expect(try await api.redeem(waiting.session).refusal == "403 forbidden")
        #expect(try await api.count("audit_log WHERE action = 'sign_in_denied'") == 1)
        #expect(try await api.count("audit_log WHERE action = 'sign_in_confirmed'") <= 1)
    }

    @Test(.apiWithMail(askForCodes)) func `of a code and a denial at the same time one counts`() async throws {
        let waiting = try await api.waitingDevice()
        let (api, code) = (api, try await api.code(of: waiting))
        let statuses = try await race(2) { number in
            try await (number == 0 ? api.enter(code, for: waiting) : api.deny(waiting)).status
        }
        let hasTokens = try await api.count("access_tokens WHERE session_id = '\(waiting.session.id.wireString)'") == 1
        #expect(statuses.contains(hasTokens ? 200 : 204))
        #expect(statuses.contains { hasTokens ? $0 == 404 : [400, 403].contains($0) })
    }

    @Test(.apiWithMail(askForCodes)) func `of a code and a confirmation at the same time the tokens are given once`() async throws {
        let waiting = try await api.waitingDevice()
        let (api, code) = (api, try await api.code(of: waiting))
        let statuses = try await race(2) { number in
            try await (number == 0 ? api.enter(code, for: waiting) : api.confirm(waiting)).status
        }
        #expect(statuses.allSatisfy { [200, 204, 404].contains($0) })
        #expect(try await api.redeem(waiting.session).status == 200)
        #expect(try await api.count("access_tokens WHERE session_id = '\(waiting.session.id.wireString)'") == 1)
    }
}
