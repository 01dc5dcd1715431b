internal import Foundation

/// The requests for consents, proofs of e-mail addresses, and the end of a sign-in.
enum AuthRequests {
    private struct Registration: Encodable {
        let email: String
        let displayName: String?

        enum CodingKeys: String, CodingKey {
            case email
            case displayName = "display_name"
        }
    }

    private struct VerificationID: Encodable {
        let verificationID: String
        var code: String?

        enum CodingKeys: String, CodingKey {
            case verificationID = "verification_id"
            case code
        }
    }

    static func consent() -> APIRequest<AccountClient.Consent?> {
        APIRequest(method: "GET", path: "/v1/consent", bearer: .none) { response in
            let answer: AccountClient.Consent.Answer = try WireJSON.content(response)
            return try answer.consent
        }
    }

    /// Another mail for each: not repeatable.
    static func register(email: String, displayName: String?) -> APIRequest<AccountClient.Verification> {
        APIRequest(
            method: "POST", path: "/v1/auth/register", bearer: .none,
            body: .json(WireJSON.data(Registration(email: email, displayName: displayName)))
        ) { try WireJSON.content($0) }
    }

    static func resend(_ id: UUID) -> APIRequest<AccountClient.Verification> {
        APIRequest(
            method: "POST", path: "/v1/auth/resend", bearer: .none,
            body: .json(WireJSON.data(VerificationID(verificationID: id.wireText)))
        ) { try WireJSON.content($0) }
    }

    /// A repetition gets the same answer by the verification's id, so it has a key that the API does not need.
    static func verify(_ id: UUID, code: String) -> APIRequest<AccountClient.Verified> {
        APIRequest(
            method: "POST", path: "/v1/auth/verify", bearer: .none,
            body: .json(WireJSON.data(VerificationID(verificationID: id.wireText, code: code))), idempotencyKey: UUID()
        ) { try WireJSON.content($0) }
    }

    /// Ends the sign-in of the bearer. 401 `unauthorized` says that it had ended before.
    static func logOut() -> APIRequest<Void> { APIRequest(method: "POST", path: "/api/v1/auth/logout") { _ in } }
}
