import Foundation
import TestSupport

/// The owner of an account, signed in on a phone with a device key.
struct SignedInOwner: Sendable {
    let phone: Phone
    let device: DeviceSigner
    let email: String
    let access: String
    let refresh: String

    /// Makes an account, and signs in with a mailed code; the phone is known then.
    static func make(_ stack: Stack) async throws -> SignedInOwner {
        let (phone, device) = (try await Phone.make(stack), try DeviceSigner())
        let email = "owner-\(UUID().uuidString.lowercased())@example.org"
        _ = try await phone.enrol(email: email)
        let login = try await phone.signIn(email: email, photos: try Photos.variants(of: Photos.sameFace), by: device)
        _ = try await phone.outcome(of: login)
        let grant = try await phone.redeem(login, email: email, by: device).body
        guard let access = grant["access_token"].text, let refresh = grant["refresh_token"].text else {
            throw DeadlineExceeded(description: "no tokens: \(grant)")
        }
        return SignedInOwner(phone: phone, device: device, email: email, access: access, refresh: refresh)
    }

    /// Renews the tokens as the owner; returns the answer.
    func renew(_ token: String, proof: String? = nil) async throws -> Answer {
        try await phone.send(
            "POST", Self.refreshPath, json: Self.body(token), bearer: nil, proof: try proof ?? device.proof(Self.refreshClaims()))
    }

    static let refreshPath = "/api/v1/auth/refresh"

    static func body(_ token: String) -> String { #"{"refresh_token":"\#(token)"}"# }

    static func refreshClaims() -> DeviceSigner.Claims { DeviceSigner.Claims("POST", Stack.publicURL + refreshPath) }
}
