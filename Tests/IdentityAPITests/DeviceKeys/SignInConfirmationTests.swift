import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Sign-ins on new devices that are confirmed on a device with a key, in place of the mailed code.
@Suite struct SignInConfirmationTests {
    @Sendable private static func askForCodes(_ configuration: inout IdentityAPIConfiguration) {
        configuration.deviceKeys.newDevices = .code
    }

    @Test(.apiWithMail(askForCodes))
    func `a sign-in that is confirmed with the reference of the new device gets its tokens there`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.redeem(waiting.session).refusal == "403 verification_required code")
        #expect(try await api.confirm(waiting).status == 204)
        #expect(try await api.redeem(waiting.session).status == 200)
        let entries = try await api.audit(waiting.owner.userID).filter { $0.action == AuditAction.signInConfirmed.rawValue }
        #expect(entries.map(\.objectID) == [waiting.session.id])
    }

    @Test(.apiWithMail(askForCodes)) func `a reference counts in small letters, and with spaces around it`() async throws {
        let waiting = try await api.waitingDevice()
        #expect(try await api.confirm(waiting, " \(waiting.reference.lowercased()) ").status == 204)
    }

    @Test(.apiWithMail(askForCodes))
    func `a wrong reference takes an attempt, and after the last one the sign-in waits no more`() async throws {
        let waiting = try await api.waitingDevice()
        for left in (0..<EmailVerificationRepository.maxAttempts).reversed() {
            let answer = try await api.confirm(waiting, waiting.otherReference)
            #expect(answer.refusal == "400 invalid_code reference")
            #expect(answer.json.number("error.attempts_left") == left)
        }
        #expect(try await api.confirm(waiting).refusal == "404 not_found")
        #expect(try await api.enter(try await api.code(of: waiting), for: waiting).refusal == "400 invalid_code code")
        #expect(try await api.redeem(waiting.session).refusal == "403 verification_required code")
    }

    @Test(.apiWithMail(askForCodes)) func `a text that is no reference confirms nothing, and takes no attempt`() async throws {
        let waiting = try await api.waitingDevice()
        let token = waiting.owner.accessToken
        for (json, refusal) in [("{}", "400 missing_field reference"), (#"{"reference":""}"#, "400 missing_field reference")] {
            #expect(try await api.send("POST", waiting.path, by: waiting.key, bearer: token, json: json).refusal == refusal)
        }
        for text in ["BCD", "BCDFG", "1234", "AEIU"] {
            #expect(try await api.confirm(waiting, text).refusal == "400 invalid_request reference")
        }
        #expect(try await api.count("email_verifications WHERE verified_at IS NULL AND attempts_left = 5") == 1)
        #expect(try await api.confirm(waiting).status == 204)
    }

    @Test(.apiWithMail(askForCodes)) func `a sign-in without a device key confirms nothing, and denies nothing`() async throws {
        let waiting = try await api.waitingDevice()
        try await api.postgres.execute("UPDATE access_tokens SET device_key = NULL, device_key_storage = NULL")
        #expect(try await api.confirm(waiting).refusal == "401 device_key_required")
        #expect(try await api.deny(waiting).refusal == "401 device_key_required")
        #expect(try await api.waitingSignIns(of: waiting.owner).count == 1)
    }

    @Test(.apiWithMail(askForCodes)) func `a stolen access token confirms nothing, and denies nothing`() async throws {
        let (waiting, thief) = (try await api.waitingDevice(), try DeviceSigner())
        let (token, json) = (waiting.owner.accessToken, #"{"reference":"\#(waiting.reference)"}"#)
        #expect(try await api.post(waiting.path, json, bearer: token).refusal == "401 device_key_required")
        #expect(try await api.send("DELETE", waiting.path, headers: [waiting.owner.bearer]).refusal == "401 device_key_required")
        #expect(try await api.send("POST", waiting.path, by: thief, bearer: token, json: json).refusal == "401 invalid_dpop_proof jwk")
        #expect(try await api.send("DELETE", waiting.path, by: thief, bearer: token).refusal == "401 invalid_dpop_proof jwk")
        #expect(try await api.waitingSignIns(of: waiting.owner).count == 1)
    }

    @Test(.apiWithMail(askForCodes)) func `the session of another account is unknown`() async throws {
        let waiting = try await api.waitingDevice()
        let other = try await api.waitingDevice(email: "another@example.org")
        let path = "\(WaitingDevice.list)/\(waiting.session.id.wireString)"
        let (token, json) = (other.owner.accessToken, #"{"reference":"\#(waiting.reference)"}"#)
        #expect(try await api.send("POST", path, by: other.key, bearer: token, json: json).refusal == "404 not_found")
        #expect(try await api.send("DELETE", path, by: other.key, bearer: token).refusal == "404 not_found")
        #expect(try await api.waitingSignIns(of: other.owner).map { $0.text("session_id") } == [other.session.id.wireString])
        #expect(try await api.confirm(waiting).status == 204, "no attempt was taken")
    }

    @Test(.apiWithMail(askForCodes)) func `an id that is unknown, and a sign-in that waits for no code, are not found`() async throws {
        let waiting = try await api.waitingDevice()
        let token = waiting.owner.accessToken
        for id in [UUID().wireString, "x"] {
            #expect(try await api.send("DELETE", "\(WaitingDevice.list)/\(id)", by: waiting.key, bearer: token).refusal == "404 not_found")
        }
        #expect(try await api.confirm(waiting).status == 204)
        #expect(try await api.confirm(waiting).refusal == "404 not_found", "it is confirmed already")
    }

    @Test(
        .apiWithMail(askForCodes),
        arguments: [
            "UPDATE email_verifications SET code_expires_at = now()", "UPDATE users SET sign_ins_ended_at = now()",
            "UPDATE sessions SET expires_at = now()",
        ])
    func `a sign-in whose code or session has ended waits no more`(end: String) async throws {
        let waiting = try await api.waitingDevice()
        try await api.postgres.execute(PostgresQuery(unescaped: end))
        #expect(try await api.waitingSignIns(of: waiting.owner).isEmpty)
        #expect(try await api.confirm(waiting).refusal == "404 not_found")
    }

    @Test(.apiWithMail(askForCodes)) func `a proof confirms once`() async throws {
        let waiting = try await api.waitingDevice()
        let (token, json) = (waiting.owner.accessToken, #"{"reference":"\#(waiting.otherReference)"}"#)
        let first = try await api.send("POST", waiting.path, by: waiting.key, bearer: token, json: json) { $0.id = "same" }
        let second = try await api.send("POST", waiting.path, by: waiting.key, bearer: token, json: json) { $0.id = "same" }
        #expect(first.refusal == "400 invalid_code reference")
        #expect(second.refusal == "401 invalid_dpop_proof jti")
        #expect(try await api.count("email_verifications WHERE attempts_left = 4 AND verified_at IS NULL") == 1)
    }

    @Test(.apiWithMail(askForCodes))
    func `the sign-ins that wait are listed without their references, until they are decided`() async throws {
        let waiting = try await api.waitingDevice()
        let listed = try await api.waitingSignIns(of: waiting.owner)
        #expect(listed.map { $0.text("session_id") } == [waiting.session.id.wireString])
        let left = listed.first?.number("expires_in") ?? 0
        #expect((500...600).contains(left))
        #expect(!"\(listed)".contains(waiting.reference))
        #expect(try await api.confirm(waiting).status == 204)
        #expect(try await api.waitingSignIns(of: waiting.owner).isEmpty)
    }

    @Test(.apiWithMail(askForCodes))
    func `a sign-in whose mail has to wait cannot be confirmed before it, so that mails bound attempts`() async throws {
        let (key, email) = (try DeviceSigner(), "known@example.org")
        let owner = try await api.verifiedSignIn(by: key, email: email)
        let waiting = try await api.anotherSignIn(of: owner, key)
        #expect(try await api.waitingSignIns(of: owner).isEmpty)
        #expect(try await api.confirm(waiting).refusal == "404 not_found")
    }
}
