internal import Foundation

/// The requests about the account of the signed-in person.
enum AccountRequests {
    /// A name that may be null, which is not the same as missing.
    private struct Name: Encodable {
        let displayName: String?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(displayName, forKey: .displayName)
        }

        enum CodingKeys: String, CodingKey { case displayName = "display_name" }
    }

    private struct Email: Encodable {
        let email: String
    }

    private struct SignIns: Decodable {
        let sessions: [AccountClient.SignIn]
    }

    static func profile() -> APIRequest<AccountClient.Profile> {
        APIRequest(method: "GET", path: "/v1/users/me") { try WireJSON.content($0) }
    }

    static func setDisplayName(_ name: String?) -> APIRequest<AccountClient.Name> {
        APIRequest(method: "PUT", path: "/v1/users/me", body: .json(WireJSON.data(Name(displayName: name)))) {
            try WireJSON.content($0)
        }
    }

    /// A repetition mails another code; the answer that arrives names the verification of the last mail.
    static func changeEmail(to email: String) -> APIRequest<AccountClient.Verification> {
        APIRequest(method: "PUT", path: "/v1/users/me/email", body: .json(WireJSON.data(Email(email: email))), proof: .ofKey) {
            try WireJSON.content($0)
        }
    }

    static func recovery() -> APIRequest<AccountClient.Recovery> {
        APIRequest(method: "GET", path: "/v1/users/me/recovery") { try WireJSON.content($0) }
    }

    static func cancelRecovery() -> APIRequest<Void> { APIRequest(method: "DELETE", path: "/v1/users/me/recovery") { _ in } }

    static func signIns() -> APIRequest<[AccountClient.SignIn]> {
        APIRequest(method: "GET", path: "/v1/users/me/sessions") { response in
            let answer: SignIns = try WireJSON.content(response)
            return answer.sessions
        }
    }

    static func endSignIn(_ id: UUID) -> APIRequest<Void> {
        APIRequest(method: "DELETE", path: "/v1/users/me/sessions/\(id.wireText)") { _ in }
    }

    static func endSignIns(exceptCurrent: Bool) -> APIRequest<Void> {
        APIRequest(
            method: "DELETE", path: "/v1/users/me/sessions", query: exceptCurrent ? [URLQueryItem(name: "except", value: "current")] : []
        ) { _ in }
    }

    /// The archive is made while it is sent, so there may be pauses between its parts.
    static func export() -> APIRequest<Void> {
        APIRequest(method: "GET", path: "/v1/users/me/export", proof: .ofKey, timeout: .seconds(120)) { _ in }
    }

    static func eraseAccount() -> APIRequest<AccountClient.Erasure> {
        APIRequest(method: "DELETE", path: "/v1/users/me", proof: .ofKey) { try WireJSON.content($0) }
    }

    static func eraseFace() -> APIRequest<AccountClient.Erasure> {
        APIRequest(method: "DELETE", path: "/v1/users/me/face", proof: .ofKey) { try WireJSON.content($0) }
    }

    /// The path is made here: no address that an answer names gets the token.
    static func erasure(_ id: UUID, token: String) -> APIRequest<AccountClient.Erasure.Progress> {
        APIRequest(method: "GET", path: "/v1/users/me/erasure/\(id.wireText)", bearer: .token(token)) { try WireJSON.content($0) }
    }
}
