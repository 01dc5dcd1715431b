internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `GET /api/v1/ekyc/sessions/{id}`.
struct SessionController: Sendable {
    let postgres: PostgresClient
    let waiters: RowWatcher<Session>

    func status(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let wait = try request.wait()
        var session = try await find(request, context)
        if wait > 0, !session.state.isTerminal {
            let ended = await waiters.waitIfPossible(
                for: session.id, of: .address(context.client.subscriber), upTo: .seconds(wait),
                whenClientHangsUp: context.whenClientHangsUp
            ) { $0.state.isTerminal }
            if let ended { session = ended } else { session = try await find(request, context) }
        }
        let proof = session.awaitsVerification ? try await EmailVerificationRepository(postgres).find(id: session.id) : nil
        var response = Answer.success("Session found", data: Self.describe(session, proof))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Returns the session in the path, to the device that holds its token.
    func find(_ request: Request, _ context: APIRequestContext) async throws -> Session {
        let token = try request.requiredBearer()
        guard let id = context.parameters.get("id").flatMap({ UUID(wireString: $0) }),
            let session = try await SessionRepository(postgres).find(id: id)
        else { throw APIError(.sessionNotFound, "Session not found") }
        guard constantTimeEqual(session.tokenHash, OpaqueToken.hash(token)) else {
            throw APIError.unauthorized("The session token does not belong to this session")
        }
        return session
    }

    private static func describe(_ session: Session, _ proof: EmailVerification?) -> JSONValue {
        .members(
            ("session_id", .string(session.id.wireString)), ("event", .string(session.event.rawValue)),
            ("state", .string(session.state.rawValue)), ("reason", session.reason.map { .string($0.rawValue) }),
            ("retryable", session.retryable.map(JSONValue.bool)), ("attempts_left", session.attemptsLeft.map(JSONValue.integer)),
            // At this second the lock has ended.
            ("retry_at", session.lockedUntil.map { .string(Answer.timestamp($0.roundedUpToSecond)) }),
            ("liveness", .string(session.liveness.rawValue)),
            // The face has no effect before the mailed code is sent to `POST /v1/auth/verify`.
            ("verification_id", session.awaitsVerification ? .string(session.id.wireString) : nil),
            ("reference", proof.map { .string($0.reference) }),
            ("created_at", .string(Answer.timestamp(session.createdAt))),
            ("completed_at", session.completedAt.map { .string(Answer.timestamp($0)) }),
            ("expires_at", .string(Answer.timestamp(session.expiresAt))))
    }
}

extension Date {
    /// The first whole second that is not before.
    fileprivate var roundedUpToSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.up)) }
}
