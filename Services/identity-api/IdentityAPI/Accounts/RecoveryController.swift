internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import ServiceDefaults
internal import Storage
internal import WireFormat

/// Answers `GET` and `DELETE /v1/users/me/recovery`: the replacement of the account's face that was asked for by e-mail.
struct RecoveryController: Sendable {
    let postgres: PostgresClient
    let authenticator: any Authenticator
    /// Limits the requests of one account.
    let limiter: RateLimiter<UUID>

    func get(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let end = try await PendingEnrolmentRepository(postgres).recovery(of: identity.userID)
        return Answer.json(
            Answer.data(
                .members(("state", end == nil ? "none" : "waiting"), ("takes_effect_at", end.map { .string(Answer.timestamp($0)) })),
                context.requestID))
    }

    /// Ends a recovery without effect. Any device that is signed in may do it: a user who holds one needs no recovery.
    func cancel(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        try await postgres.withTransaction { transaction in
            try await RecoveryCancellation.cancel(
                of: identity.userID, requestID: context.requestID, traceparent: context.traceparent, in: transaction)
        }
        return Response(status: .noContent)
    }

    private func admit(_ request: Request, _ context: APIRequestContext) async throws -> Identity {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many requests by this account")
        return identity
    }
}
