internal import FoundationEssentials
internal import HTTPTypes
internal import JSON

extension APIOperation {
    /// Sign-ups and sign-ins by face, and their sessions.
    static let faces: [APIOperation] = [
        issueChallenge,
        APIOperation(
            .post, APITarget("/api/v1/ekyc/upload-photos", .idempotencyKey, .retakenToken), id: "signUp", area: .faces,
            summary: "Enrols a face, by three photos of each pose; the result is a push. `email` is needed without a bearer, "
                + "`consent_version` where a consent is required, `challenge_id` and `challenge_photos` where a challenge is",
            from: .ownerOfSignUp, reply: .response(started),
            errors: uploadErrors.union([.unauthorized, .forbidden, .reauthenticationRequired, .consentRequired]),
            repetition: "`Idempotency-Key`, 10 minutes", handler: { $0.uploads.signUp }),
        getConsent,
        APIOperation(
            .post, APITarget("/api/v1/ekyc/login", .idempotencyKey, .retakenToken), id: "signIn", area: .faces,
            summary:
                "Signs in by three photos of a face; the result is a push. With a `challenge_id` they are in the order of its poses. With "
                + "the enrolment token of the proven e-mail, failures of others do not lock it out",
            from: .withDeviceKey(.proofOfSignIn), reply: .response(started), errors: uploadErrors.union([.accountLocked, .unauthorized]),
            repetition: "`Idempotency-Key`, 10 minutes", handler: { $0.uploads.signIn }),
        APIOperation(
            .get, APITarget("/api/v1/ekyc/sessions/{id}", .session, .wait), id: "getSession", area: .faces,
            summary: "The state of a session, and the reason of its failure", from: .holder(of: .session),
            reply: .success("Session found", "The session", cacheControl: "no-store", example: failed),
            errors: [.sessionNotFound, .overloaded], handler: { $0.sessions.status }),
        APIOperation(
            .post, APITarget("/api/v1/ekyc/sessions/{id}/token", .session), id: "redeemSession", area: .faces,
            summary:
                "The tokens of a sign-in that succeeded within 5 minutes; again: the same tokens. On a device that is new to the account a "
                + "`code` may be needed, which is mailed with the first request",
            from: .withDeviceKey(.holder(of: .session)),
            reply: .bare("The tokens", cacheControl: "no-store"),
            errors: [.sessionNotFound, .forbidden, .requestInProgress, .verificationRequired, .invalidCode],
            repetition: "the same tokens, 5 minutes", handler: { $0.tokens.redeem }),
    ]

    private static let uploadErrors: Set<ErrorCode> = [
        .invalidImage, .invalidPhotoCount, .invalidEmail, .requestInProgress, .idempotencyKeyReused, .overloaded,
        .challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed, .retakeUnavailable,
    ]

    private static let started = APIReply.success(
        StartedSession.schema, "The session began", headers: [.sessionToken, .idempotentReplayed],
        links: [
            APILink(operation: "getSession", parameter: "id", member: "session_id"),
            APILink(operation: "redeemSession", parameter: "id", member: "session_id"),
        ])

    private static let failed: JSONValue = [
        "event": "sign_in", "state": "failed", "reason": "no_match", "retryable": true, "attempts_left": 4, "liveness": "not_performed",
        "completed_at": "2025-10-27T10:00:12Z",
    ]
}

extension APIArgument<String?> {
    /// The token of the failed session whose photos are retaken.
    fileprivate static let retakenToken = header(.sessionToken, "With `retake_of`: the token of the failed session")
}

extension APIArgument<UUID> {
    /// The session in the path.
    fileprivate static let session = id("id", "The session's id", or: .sessionNotFound)
}
