internal import Foundation

/// The requests about sign-ins on new devices that wait to be confirmed on this one.
enum ConfirmationRequests {
    private static let path = "/v1/users/me/sign-in-confirmations"

    private struct List: Decodable {
        let signIns: [AccountClient.WaitingSignIn]

        enum CodingKeys: String, CodingKey { case signIns = "sign_ins" }
    }

    private struct Confirmation: Encodable {
        let reference: String
    }

    static func list() -> APIRequest<[AccountClient.WaitingSignIn]> {
        APIRequest(method: "GET", path: path) { response in
            let list: List = try WireJSON.content(response)
            return list.signIns
        }
    }

    /// A repetition of a wrong reference would take another attempt.
    static func confirm(_ id: UUID, reference: String) -> APIRequest<Void> {
        APIRequest(
            method: "POST", path: "\(path)/\(id.wireText)", body: .json(WireJSON.data(Confirmation(reference: reference))), proof: .ofKey
        ) { _ in }
    }

    static func deny(_ id: UUID) -> APIRequest<Void> {
        APIRequest(method: "DELETE", path: "\(path)/\(id.wireText)", proof: .ofKey) { _ in }
    }
}
