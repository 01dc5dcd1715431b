import Accounts
import Foundation
import Testing

@testable import IdentityAPI
@testable import MobileClient
@testable import MobileSim

/// The proofs that the client for apps makes, read by the API.
@Suite struct MobileClientProofTests {
    private let hardware = PhoneHardware()
    private let nonces = DeviceNonces(sessionKey: [UInt8](repeating: 7, count: 32))

    private func verify(token: String?, nonce: String? = nil, now: Date, issuedAt: Date? = nil) throws -> DeviceProof {
        let url = try #require(URL(string: "https://api.example.org/v1/users/me/export?x=1"))
        let proof = DPoPProof(
            method: "GET", url: url, tokenHash: token.map { hardware.sha256(Data($0.utf8)) }, issuedAt: issuedAt ?? now, nonce: nonce)
        let text = try proof.text(signedBy: hardware.makeKey())
        let verifier = DeviceProofVerifier(nonces: nonces, urls: [try #require(ProofURL("https://api.example.org"))])
        return try verifier.verify(text, of: .init(method: "GET", path: "/v1/users/me/export", token: token), now: now)
    }

    @Test(arguments: [nil, "access-token"]) func `a proof is taken, with and without a token`(token: String?) throws {
        #expect(try verify(token: token, now: Date()).key.storage == .hardware)
    }

    @Test func `a proof of a phone with a wrong clock is taken with a nonce`() throws {
        let now = Date()
        _ = try verify(token: nil, nonce: nonces.issue(at: now), now: now, issuedAt: now - 86_400)
        #expect(throws: DeviceProofFault.time) { _ = try verify(token: nil, now: now, issuedAt: now - 86_400) }
    }
}
