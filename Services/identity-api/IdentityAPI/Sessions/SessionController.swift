internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import WireFormat

/// Answers `GET /api/v1/ekyc/sessions/{id}`.
struct SessionController: Sendable {
    let postgres: PostgresClient
    let waiters: RowWatcher<Session>

    func status(_ call: APICall<String, (UUID, Int), EmptyBody>) async throws -> SessionReply {
        let (token, context) = (call.sender, call.context)
        let (id, wait) = call.target
        var session = try await find(id, token: token)
        if wait > 0, !session.state.isTerminal {
            let ended = await waiters.waitIfPossible(
                for: session.id, of: .address(context.client.subscriber), upTo: .seconds(wait),
                whenClientHangsUp: context.whenClientHangsUp
            ) { $0.state.isTerminal }
            if let ended { session = ended } else { session = try await find(id, token: token) }
        }
        let proof = session.awaitsVerification ? try await EmailVerificationRepository(postgres).find(id: session.id) : nil
        return SessionReply(session: session, proof: proof)
    }

    /// Returns a session to the device that holds its token.
    func find(_ id: UUID, token: String) async throws -> Session {
        guard let session = try await SessionRepository(postgres).find(id: id) else { throw APIError.sessionNotFound }
        guard constantTimeEqual(session.tokenHash, OpaqueToken.hash(token)) else {
            throw APIError.unauthorized("The session token does not belong to this session")
        }
        return session
    }
}

extension APIError {
    static let sessionNotFound = APIError(.sessionNotFound, "Session not found")
}

/// The reply to an upload that began a session.
struct StartedSession: APIObject {
    static let members: [APIMember<StartedSession>] = [.required("session_id", \.id)]

    let id: UUID
}

/// The state of a session, as the device that holds its token sees it.
struct SessionReply: APIObject {
    static let members = outcome + [livenessMember] + times
    /// The document has `liveness` as its last member.
    static let schema: JSONSchema = schema(of: outcome + times + [livenessMember])

    private static let outcome: [APIMember<SessionReply>] = [
        .required("session_id", \.session.id), .required("event", \.session.event), .required("state", \.session.state),
        .optional("reason", \.session.reason, SessionReason.schema.described(remedies)), .optional("photos", \.photos),
        .optional("retake_until", \.retakeUntil),
        .optional("retryable", \.session.retryable), .optional("attempts_left", \.session.attemptsLeft), .optional("retry_at", \.retryAt),
    ]
    private static let livenessMember: APIMember<SessionReply> = .optional("liveness", \.liveness)
    private static let times: [APIMember<SessionReply>] = [
        .optional("verification_id", \.verificationID), .optional("reference", \.proof?.reference, .reference),
        .required("created_at", \.session.createdAt), .optional("completed_at", \.session.completedAt),
        .required("expires_at", \.session.expiresAt),
    ]
    private static let remedies = SessionReason.allCases.map { "`\($0.rawValue)`: \($0.remedy)" }.joined(separator: " ")

    let session: Session
    /// The proof that the session waits for.
    let proof: EmailVerification?

    /// The lock has ended at this second.
    private var retryAt: Date? { session.lockedUntil?.roundedUpToSecond }
    /// The face has no effect before the mailed code is sent to `POST /v1/auth/verify`.
    private var verificationID: UUID? { session.awaitsVerification ? session.id : nil }
    /// Until then only the bad photos need be sent again.
    private var retakeUntil: Date? { session.state == .failed ? session.photosKeptUntil : nil }
    private var photos: [BadPhoto]? { BadPhoto.all(of: session) }
    private var liveness: Liveness? { session.liveness }
}

extension EkycEvent: APIWord {}
extension SessionState: APIWord {}
extension SessionReason: APIWord {}
extension Liveness: APIWord {}

extension Date {
    /// The first whole second that is not before.
    fileprivate var roundedUpToSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.up)) }
}
