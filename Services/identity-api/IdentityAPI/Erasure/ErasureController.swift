internal import Accounts
internal import FoundationEssentials
internal import JSON
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// Answers requests to erase an account or its face, and shows how far an erasure is.
///
/// The answer to a request names a token, because the sign-ins of the account have ended when it comes: with it the receipt can be read.
struct ErasureController: Sendable {
    let postgres: PostgresClient
    let starter: ErasureStarter
    let receiptKeys: ReceiptKeys

    /// Answers `GET /.well-known/jwks.json`.
    func keys(_: APICall<Void, Void, EmptyBody>) async throws -> ReceiptKeys { receiptKeys }

    /// Answers `DELETE /v1/users/me`. Needs a sign-in of the last five minutes, as everything that cannot be undone.
    func eraseAccount(_ call: UserCall) async throws -> ErasureRequest { try await erase(.account, call) }

    /// Answers `DELETE /v1/users/me/face`. The account stays; signing in needs a new enrolment by the devices that are signed in.
    func eraseFace(_ call: UserCall) async throws -> ErasureRequest { try await erase(.face, call) }

    /// Answers `DELETE /v1/users/{id}` of an app's own server. An account that is unknown or being erased gives 404.
    func eraseUser(_ call: APICall<ServiceIdentity, UUID, EmptyBody>) async throws -> ErasureRequest {
        let actor = AuditActor.service(call.sender.credentialID.wireString)
        guard let begun = try await starter.begin(.account, of: call.target, for: .service, by: actor, call.context) else {
            throw APIError.userNotFound
        }
        return begun
    }

    /// Answers `GET /v1/users/me/erasure/{id}` with the token of the receipt. Another token is as wrong as an unknown id.
    func status(_ call: APICall<String, UUID, EmptyBody>) async throws -> ErasureStatus {
        let hash = OpaqueToken.hash(call.sender)
        guard let status = try await ErasureRepository(postgres).status(id: call.target, tokenHash: hash) else {
            throw APIError.erasureNotFound
        }
        return status
    }

    private func erase(_ scope: ErasureScope, _ call: UserCall) async throws -> ErasureRequest {
        let (userID, proof) = (call.sender.userID, call.sender.proof)
        guard let begun = try await starter.begin(scope, of: userID, for: .user, by: .user(userID), using: proof, call.context) else {
            throw APIError(.requestInProgress, "An erasure of this account is under way", retryAfter: 30)
        }
        return begun
    }
}

/// The public keys of receipts, a JSON Web Key Set.
struct ReceiptKeys: APIValue {
    static let schema = JSONSchema.object(["keys": .array(of: .map(of: .text))])

    let json: JSONValue
}

extension APIError {
    static let userNotFound = APIError(.notFound, "User not found")
    static let erasureNotFound = APIError(.notFound, "Erasure not found")
}

extension ErasureRequest: APIObject {
    static let members: [APIMember<ErasureRequest>] = [
        .required("erasure_id", \.id), .required("receipt_token", \.receiptToken), .required("receipt_url", \.receiptURL),
    ]

    private var receiptURL: String { "/v1/users/me/erasure/\(id.wireString)" }
}

extension ErasureStatus: APIObject {
    enum State: String, APIWord { case erasing, completed }

    static let members: [APIMember<ErasureStatus>] = [
        .required("erasure_id", \.id), .required("scope", \.scope), .required("state", \.state),
        .required("requested_at", \.requestedAt), .required("completed_at", \.completedAt), .required("services", \.reports),
        .required("receipt", \.receipt),
    ]

    private var state: State { completedAt == nil ? .erasing : .completed }
}

extension ErasureScope: APIWord {}

extension ErasureReport: APIObject {
    static let members: [APIMember<ErasureReport>] = [
        .required("service", \.service), .required("finished", \.isFinished), .required("erased", \.counts),
    ]

    private var isFinished: Bool { finishedAt != nil }
}
