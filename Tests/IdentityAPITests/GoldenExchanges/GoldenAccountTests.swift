import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges about accounts: proofs of addresses, profiles, sign-ins, blocks, reports and exports.
@Suite struct GoldenAccountTests {
    @Sendable private static func requireConsent(_ configuration: inout IdentityAPIConfiguration) {
        configuration.consent = ConsentRequirement(version: "2026-11", text: "We keep a template of your face.")
    }

    /// The id in the answer to a request for a code.
    private static func verificationID(_ response: HTTPClientResponse) throws -> String {
        try #require(response.json.text("data.verification_id"))
    }

    @Test(.api) func `no consent`() async throws { try await GoldenExchanges(api).run("consent-none") }

    @Test(.api(requireConsent)) func `a consent that is required`() async throws {
        let golden = GoldenExchanges(api)
        try await golden.run("consent-required")
        try await golden.run("ekyc-sign-up-consent-required")
    }

    @Test(.apiWithMail) func `an address is proven by its code`() async throws {
        let golden = GoldenExchanges(api)
        let id = try Self.verificationID(try await golden.run("auth-register"))
        try await golden.run("auth-resend", ["<uuid:verification>": id])
        let code = try await api.mailbox.code(to: "ada@example.org")
        let wrong = code == "000000" ? "000001" : "000000"
        try await golden.run("auth-verify-invalid-code", ["<uuid:verification>": id, "<code>": wrong])
        try await golden.run("auth-verify-registration", ["<uuid:verification>": id, "<code>": code])
        try await golden.run("auth-register-invalid-email")
        try await golden.run("auth-verify-missing-code", ["<uuid:verification>": id])
    }

    @Test(.apiWithMail(requireConsent)) func `a code begins the account of a face that waits, and the account has what was given`()
        async throws
    {
        let email = "ada@example.org"
        let session = try await api.start(Path.signUp, .signUp(email: email).with("consent_version", "2026-11"))
        try await api.suspend(session.id)
        let code = try await api.mailbox.code(to: email)
        let golden = GoldenExchanges(api, ["<uuid:verification>": session.id.wireString, "<code>": code])
        let entered = try await golden.run("auth-verify-enrolment")
        let device = try await api.signIn(email: email)
        #expect(entered.json.text("data.user_id") == device.userID.wireString)
        try await api.postgres.startRecovery(with: api.face(of: device.userID))
        let owner = GoldenExchanges(api, ["<token>": device.accessToken, "<uuid:user>": device.userID.wireString])
        try await owner.run("account-display-name")
        try await owner.run("account-profile")
        try await owner.run("account-recovery-waiting")
        try await owner.run("account-recovery-cancel")
        try await owner.run("account-recovery-none")
        try await owner.run("account-display-name-none")
    }

    @Test(.apiWithMail) func `a code for an address that has an account by then`() async throws {
        _ = try await api.signedInDevice(email: "ada@example.org")
        let session = try await api.start(Path.signUp, .signUp(email: "ada@example.org"))
        try await api.suspend(session.id)
        let row = try #require(try await EmailVerificationRepository(api.postgres).find(id: session.id))
        let golden = GoldenExchanges(api, ["<uuid:verification>": session.id.wireString, "<code>": api.keys.codes(of: row)[0]])
        try await golden.run("auth-verify-already-enrolled")
    }

    @Test(.apiWithMail) func `a code for a sign-up with the face of another account, where that is refused`() async throws {
        let device = try await api.signedInDevice(email: "ada@example.org")
        try await FaceTemplateRepository(api.postgres).upsert(api.face(of: device.userID))
        let session = try await api.start(Path.signUp, .signUp(email: "ben@example.org"))
        try await api.suspend(session.id, refusesDuplicates: true)
        let row = try #require(try await EmailVerificationRepository(api.postgres).find(id: session.id))
        #expect(try await FaceDuplicateRepository(api.postgres).add([device.userID], of: row.accountID) == 1)
        let golden = GoldenExchanges(api, ["<uuid:verification>": session.id.wireString, "<code>": api.keys.codes(of: row)[0]])
        try await golden.run("auth-verify-face-in-use")
        #expect(try await api.count("users") == 1)
        #expect(try await api.count("audit_log WHERE action = 'face_duplicate_found' AND result = 'refused'") == 1)
    }

    @Test(.apiWithMail { $0.limits.verifications = Rate(perMinute: 1, burst: 1) })
    func `too many mails`() async throws {
        let golden = GoldenExchanges(api)
        _ = try await api.post("/v1/auth/register", #"{"email":"ben@example.org"}"#)
        try await golden.run("auth-register-rate-limited")
    }

    @Test(.apiWithMail) func `an account moves to another address`() async throws {
        let device = try await api.signedInDevice(email: "old@example.org")
        let golden = GoldenExchanges(api, ["<token>": device.accessToken, "<uuid:user>": device.userID.wireString])
        let id = try Self.verificationID(try await golden.run("account-email-change"))
        let code = try await api.mailbox.code(to: "new@example.org")
        try await golden.run("auth-verify-email-change", ["<uuid:verification>": id, "<code>": code])
        try await api.age(device, by: 301)
        try await golden.run("account-email-reauthentication-required")
    }

    @Test(.api) func `the sign-ins of an account are listed and ended`() async throws {
        let phone = try await api.signedInDevice()
        let tablet = try await api.signIn(pushToken: IdentityFixture.secondPhone)
        let body = #"{"device_token":"\#(IdentityFixture.secondPhone)","platform":"android","app_version":"3.1","locale":"pt-BR"}"#
        #expect(try await api.json("POST", Device.path, body, by: Customer(userID: tablet.userID, token: tablet.accessToken)).status == 200)
        let signInID = try await api.signInID(tablet)
        #expect(try await api.refresh(tablet.refreshToken, by: DeviceSigner(), { $0.storage = "hardware" }).status == 200)
        let golden = GoldenExchanges(api, ["<token>": phone.accessToken, "<uuid:sign_in>": signInID])
        try await golden.run("sign-ins-list")
        try await golden.run("sign-in-end")
        try await golden.run("sign-in-unknown", ["<uuid:sign_in>": UUID().wireString])
        try await golden.run("sign-ins-end-others")
        try await golden.run("sign-ins-end-all")
        try await golden.run("account-unauthorized")
    }

    @Test(.apiWithMail { $0.deviceKeys.newDevices = .code })
    func `the sign-ins that wait for a confirmation are listed`() async throws {
        let waiting = try await api.waitingDevice()
        let golden = GoldenExchanges(
            api, ["<token>": waiting.owner.accessToken, "<uuid:session>": waiting.session.id.wireString])
        try await golden.run("sign-in-confirmations-list")
    }

    @Test(.api) func `a sign-in ends once`() async throws {
        let golden = GoldenExchanges(api, ["<token>": try await api.signedInDevice().accessToken])
        try await golden.run("auth-log-out")
        try await golden.run("auth-log-out-again")
    }

    @Test(.api) func `an export, and another one meanwhile`() async throws {
        let device = try await api.signedInDevice()
        let golden = GoldenExchanges(api, ["<token>": device.accessToken])
        try await golden.run("account-export")
        let begun = try await api.postgres.withTransaction {
            try await AccountExportRepository($0).begin(id: UUID(), userID: device.userID, lease: .seconds(60), maxPerDay: 5)
        }
        #expect(begun == .begun)
        try await golden.run("account-export-in-progress")
    }
}
