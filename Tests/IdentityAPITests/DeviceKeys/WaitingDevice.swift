import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// An account that is signed in on a device with a key, and a sign-in to it on a new device that waits for a code.
struct WaitingDevice {
    static let list = "/v1/users/me/sign-in-confirmations"
    /// The device that is signed in.
    let key: DeviceSigner
    let owner: SignedInDevice
    /// The session of the new device.
    let session: (id: UUID, token: String)
    /// What the new device shows.
    let reference: String

    var path: String { "\(Self.list)/\(session.id.wireString)" }
    /// A reference that the new device does not show.
    var otherReference: String { reference == "BCDF" ? "GHJK" : "BCDF" }
}

extension IdentityFixture {
    /// Signs up and in on a device, and begins a sign-in on another one, whose mail is sent at once.
    func waitingDevice(email: String = "known@example.org") async throws -> WaitingDevice {
        let key = try DeviceSigner()
        let owner = try await verifiedSignIn(by: key, email: email)
        try await forgetMails()
        return try await anotherSignIn(to: email, of: owner, key)
    }

    /// Begins a sign-in on a new device.
    func anotherSignIn(
        to email: String = "known@example.org", of owner: SignedInDevice, _ key: DeviceSigner
    ) async throws -> WaitingDevice {
        let session = try await start(Path.login, .signIn(email: email).with("fcm_token", Self.secondPhone))
        try await decide(session.id, .succeeded)
        let asked = try await redeem(session)
        guard let reference = asked.json.text("error.reference") else { throw UnexpectedAnswer(response: asked) }
        return WaitingDevice(key: key, owner: owner, session: session, reference: reference)
    }

    /// Confirms a sign-in on the device that is signed in.
    ///
    /// - Parameter reference: The text that the person types; nil for the one that the new device shows.
    func confirm(_ waiting: WaitingDevice, _ reference: String? = nil) async throws -> HTTPClientResponse {
        try await send(
            "POST", waiting.path, by: waiting.key, bearer: waiting.owner.accessToken,
            json: #"{"reference":"\#(reference ?? waiting.reference)"}"#)
    }

    func deny(_ waiting: WaitingDevice) async throws -> HTTPClientResponse {
        try await send("DELETE", waiting.path, by: waiting.key, bearer: waiting.owner.accessToken)
    }

    /// Enters the code of a sign-in on its new device.
    func enter(_ code: String, for waiting: WaitingDevice) async throws -> HTTPClientResponse {
        try await post(Path.session(waiting.session.id) + "/token", #"{"code":"\#(code)"}"#, bearer: waiting.session.token)
    }

    /// Returns the code that was mailed for a sign-in.
    func code(of waiting: WaitingDevice) async throws -> String {
        let row = try #require(try await EmailVerificationRepository(postgres).find(id: waiting.session.id))
        return keys.codes(of: row)[0]
    }

    /// Returns the sessions of the sign-ins that wait, as their account sees them.
    func waitingSignIns(of owner: SignedInDevice) async throws -> [JSONValue] {
        let answer = try await send("GET", WaitingDevice.list, headers: [owner.bearer])
        guard let list = answer.json["data"]?["sign_ins"]?.elements else { throw UnexpectedAnswer(response: answer) }
        return list
    }

    /// Returns the pushes that have asked for confirmations.
    func confirmationPushes() async throws -> [NotificationRequested] {
        try await pushes().filter { $0.kind == .signInConfirmation }
    }
}
