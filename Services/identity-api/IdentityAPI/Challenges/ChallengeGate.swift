internal import FoundationEssentials
internal import ServiceDefaults

/// Decides whether an upload names a challenge that it may answer.
struct ChallengeGate: Sendable {
    /// The form field that names the challenge.
    static let field = "challenge_id"
    /// The form field of the photos by which a sign-up answers the challenge. A sign-in answers it by its ordinary photos.
    static let photosField = "challenge_photos"

    let tokens: ChallengeTokens
    /// Whether uploads without a challenge are refused (`FACE_REQUIRE_CHALLENGE`).
    let isRequired: Bool

    /// Checks the challenge that an upload names, but not whether it was used before: only the transaction of the session can tell that.
    ///
    /// Only first attempts are checked: the repetition of an answered upload gets the stored response, even after the challenge has
    /// expired.
    ///
    /// - Parameters:
    ///   - token: The field's text; nil or empty for none.
    ///   - beganAt: When the request began.
    /// - Returns: The challenge; nil for an upload that names none and needs none.
    /// - Throws: `challenge_required`, `challenge_invalid` or `challenge_expired`.
    func check(_ token: String?, beganAt: Date, now: Date = Date()) throws(APIError) -> FaceChallenge? {
        guard let token, !token.isEmpty else {
            guard !isRequired else { throw Self.required }
            return nil
        }
        guard let challenge = tokens.challenge(of: token) else {
            throw APIError(.challengeInvalid, "This is not the id of a challenge", field: Self.field)
        }
        guard beganAt <= challenge.expiresAt, now <= challenge.expiresAt + FaceChallenge.maxUploadTime else {
            throw APIError(.challengeExpired, "The challenge has ended: ask for another one, and take other photos", field: Self.field)
        }
        return challenge
    }

    /// The refusal of an upload without a challenge, where each needs one.
    static let required = APIError(.challengeRequired, "The photos have to answer a challenge: ask for one", field: field)

    /// The refusal of a challenge that another session has answered.
    static let used = APIError(
        .challengeUsed, "The challenge was answered before: ask for another one, and take other photos", field: field)
}

extension Settings {
    /// Reads whether every upload of photos has to answer a challenge.
    func requiresChallenge() throws(ConfigurationError) -> Bool {
        try int(
            "FACE_REQUIRE_CHALLENGE", default: 0, in: 0...1,
            about: "1: sign-ups and sign-ins without a challenge (`POST /v1/ekyc/challenges`) get 400 `challenge_required`; "
                + "0: apps may send one") == 1
    }
}
