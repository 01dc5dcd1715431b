internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import ServiceDefaults
internal import Storage
internal import WireFormat

/// Answers requests to erase an account or its face, and shows how far an erasure is.
///
/// The answer to a request names a token, because the sign-ins of the account have ended when it comes: with it the receipt can be read.
struct ErasureController: Sendable {
    let postgres: PostgresClient
    let starter: ErasureStarter
    let authenticator: any Authenticator
    let services: ServiceAuthenticator
    /// Limits the requests of one account.
    let limiter: RateLimiter<UUID>

    /// Answers `DELETE /v1/users/me`. Needs a sign-in of the last five minutes, as everything that cannot be undone.
    func eraseAccount(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try await erase(.account, request, context)
    }

    /// Answers `DELETE /v1/users/me/face`. The account stays; signing in needs a new enrolment by the devices that are signed in.
    func eraseFace(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try await erase(.face, request, context)
    }

    /// Answers `DELETE /v1/users/{id}` of an app's own server. An account that is unknown or being erased gives 404.
    func eraseUser(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let service = try await services.identify(request, for: .eraseUsers)
        guard let id = context.parameters.get("user").flatMap({ UUID(wireString: $0) }),
            let begun = try await starter.begin(.account, of: id, for: .service, by: .service(service.credentialID.wireString), context)
        else { throw APIError(.notFound, "User not found") }
        return Self.answer(begun, context)
    }

    /// Answers `GET /v1/users/me/erasure/{id}` with the token of the receipt. Another token is as wrong as an unknown id.
    func status(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let token = try request.requiredBearer()
        guard let id = context.parameters.get("id").flatMap({ UUID(wireString: $0) }),
            let status = try await ErasureRepository(postgres).status(id: id, tokenHash: OpaqueToken.hash(token))
        else { throw APIError(.notFound, "Erasure not found") }
        let reports = status.reports.map { report -> JSONValue in
            .members(
                ("service", .string(report.service)), ("finished", .bool(report.finishedAt != nil)),
                ("erased", .object(report.counts.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) })))
        }
        var response = Answer.json(
            Answer.data(
                .members(
                    ("erasure_id", .string(status.id.wireString)), ("scope", .string(status.scope.rawValue)),
                    ("state", .string(status.completedAt == nil ? "erasing" : "completed")),
                    ("requested_at", .string(Answer.timestamp(status.requestedAt))),
                    ("completed_at", status.completedAt.map { .string(Answer.timestamp($0)) } ?? .null),
                    ("services", .array(reports)), ("receipt", status.receipt.map(JSONValue.string) ?? .null)),
                context.requestID))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func erase(_ scope: ErasureScope, _ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many requests by this account")
        try identity.requireRecentSignIn(now: Date())
        guard let begun = try await starter.begin(scope, of: identity.userID, for: .user, by: .user(identity.userID), context) else {
            throw APIError(.requestInProgress, "An erasure of this account is under way", retryAfter: 30)
        }
        return Self.answer(begun, context)
    }

    private static func answer(_ begun: ErasureRequest, _ context: APIRequestContext) -> Response {
        var response = Answer.json(
            Answer.data(
                .members(
                    ("erasure_id", .string(begun.id.wireString)), ("receipt_token", .string(begun.receiptToken)),
                    ("receipt_url", .string("/v1/users/me/erasure/\(begun.id.wireString)"))),
                context.requestID), status: .accepted)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
