internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import WireFormat

/// Answers `POST /v1/ekyc/challenges`: the poses that the photos of the next sign-up or sign-in have to show.
///
/// Issuing one stores nothing, so that a flood of requests costs no rows. Its body is not read.
struct ChallengeController: Sendable {
    let tokens: ChallengeTokens
    /// Limits the challenges that one client address asks for.
    let limiter: PrefixRateLimiter

    func issue(_: APICall<Void, Void, EmptyBody>) async throws -> IssuedChallenge {
        let challenge = FaceChallenge()
        return IssuedChallenge(challenge: challenge, token: tokens.token(of: challenge))
    }

    /// Counts a challenge.
    func checkRate(_ context: APIRequestContext) throws(APIError) {
        try limiter.admit(context.client, context.limits, or: "Too many challenges were asked for from this address")
    }
}

/// A challenge with the token by which the upload names it.
struct IssuedChallenge: APIObject {
    static let members: [APIMember<IssuedChallenge>] = [
        .required("challenge_id", \.token, .text(ChallengeTokens.length...ChallengeTokens.length)),
        .required(
            "poses", \.challenge.poses,
            .array(of: LivenessPose.schema, upTo: LivenessPose.countInChallenge, from: LivenessPose.countInChallenge)),
        .required("expires_at", \.challenge.expiresAt),
    ]

    let challenge: FaceChallenge
    let token: String
}

extension LivenessPose: APIWord {}

extension APIOperation {
    /// The challenge of a sign-up or sign-in.
    static let issueChallenge = APIOperation(
        .post, "/v1/ekyc/challenges", id: "issueChallenge", area: .faces,
        summary: "Three poses that the photos of the next sign-up or sign-in show, in this order; for one upload that begins within 90 "
            + "seconds",
        from: .anyone { try $0.challenges.checkRate($1) },
        reply: .data("The challenge", status: .created, cacheControl: "no-store"), repetition: "another challenge",
        handler: { $0.challenges.issue })
}
