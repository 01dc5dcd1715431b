internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import WireFormat

/// Answers `POST /v1/ekyc/challenges`: the poses that the photos of the next sign-up or sign-in have to show.
///
/// Issuing one stores nothing, so that a flood of requests costs no rows. Its body is not read.
struct ChallengeController: Sendable {
    let tokens: ChallengeTokens
    /// Limits the challenges that one client address asks for.
    let limiter: RateLimiter<IPAddress>

    func issue(_: Request, _ context: APIRequestContext) async throws -> Response {
        try limiter.admit(context.client.subscriber, context.limits, or: "Too many challenges were asked for from this address")
        let challenge = FaceChallenge()
        let data = JSONValue.members(
            ("challenge_id", .string(tokens.token(of: challenge))),
            ("poses", .array(challenge.poses.map { .string($0.rawValue) })),
            ("expires_at", .string(Answer.timestamp(challenge.expiresAt))))
        var response = Answer.json(Answer.data(data, context.requestID), status: .created)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
