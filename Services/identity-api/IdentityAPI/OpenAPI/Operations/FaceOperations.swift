internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Storage
internal import WireFormat

extension APIOperation {
    /// Sign-ups and sign-ins by face, and their sessions.
    static let faces: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/ekyc/challenges", id: "issueChallenge", area: .faces,
            summary: "Three poses that the photos of the next sign-up or sign-in show, in this order; for one upload that begins within 90 "
                + "seconds",
            replies: [
                .data(
                    .object([
                        "challenge_id": .text(ChallengeTokens.length...ChallengeTokens.length),
                        "poses": .array(
                            of: .one(of: LivenessPose.self), upTo: LivenessPose.countInChallenge, from: LivenessPose.countInChallenge),
                        "expires_at": .instant,
                    ]), status: 201, "The challenge")
            ],
            repetition: "another challenge", handler: { $0.challenges.issue }),
        APIOperation(
            method: .post, path: "/api/v1/ekyc/upload-photos", id: "signUp", area: .faces,
            summary: "Enrols a face, by three photos of each pose; the result is a push. `email` is needed without a bearer, "
                + "`consent_version` where a consent is required, `challenge_id` and `challenge_photos` where a challenge is",
            bearers: [.none, .access, .enrolment], parameters: [.idempotencyKey],
            body: .form(
                form(.signUp, [("recovery", .one(of: ["true", "false"])), ("consent_version", .text)]), upTo: UploadLimits().bodyBytes),
            replies: [started],
            errors: uploadErrors.union([.unauthorized, .forbidden, .reauthenticationRequired, .consentRequired]),
            repetition: "`Idempotency-Key`, 10 minutes", handler: { routes in { try await routes.uploads.upload(.signUp, $0, $1) } }),
        getConsent,
        APIOperation(
            method: .post, path: "/api/v1/ekyc/login", id: "signIn", area: .faces,
            summary:
                "Signs in by three photos of a face; the result is a push. With a `challenge_id` they are in the order of its poses. With "
                + "the enrolment token of the proven e-mail, failures of others do not lock it out",
            bearers: [.none, .enrolment], parameters: [.idempotencyKey],
            body: .form(form(.signIn, []), upTo: UploadLimits().bodyBytes), replies: [started],
            errors: uploadErrors.union([.accountLocked, .unauthorized]),
            repetition: "`Idempotency-Key`, 10 minutes", handler: { routes in { try await routes.uploads.upload(.signIn, $0, $1) } }),
        APIOperation(
            method: .get, path: "/api/v1/ekyc/sessions/{id}", id: "getSession", area: .faces,
            summary: "The state of a session, and the reason of its failure", bearers: [.session],
            parameters: [.id("id", "The session's id"), .wait], replies: [.success(session, "The session", example: failed)],
            errors: [.sessionNotFound, .overloaded], handler: { $0.sessions.status }),
        APIOperation(
            method: .post, path: "/api/v1/ekyc/sessions/{id}/token", id: "redeemSession", area: .faces,
            summary: "The tokens of a sign-in that succeeded within 5 minutes; again: the same tokens", bearers: [.session],
            parameters: [.id("id", "The session's id")], replies: [.bare(tokens, "The tokens")],
            errors: [.sessionNotFound, .forbidden, .requestInProgress],
            repetition: "the same tokens, 5 minutes", handler: { $0.tokens.redeem }),
    ]

    /// The token object of RFC 6749 §5.1.
    static let tokens = JSONSchema.object([
        "access_token": .text, "refresh_token": .text, "token_type": .constant("Bearer"), "expires_in": .count, "user_id": .uuid,
    ])

    private static let uploadErrors: Set<ErrorCode> = [
        .invalidImage, .invalidPhotoCount, .invalidEmail, .requestInProgress, .idempotencyKeyReused, .overloaded,
        .challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed,
    ]

    private static let started = APIReply.success(
        .object(["session_id": .uuid]), "The session began", headers: [.sessionToken, .idempotentReplayed],
        links: [
            APILink(operation: "getSession", parameter: "id", member: "session_id"),
            APILink(operation: "redeemSession", parameter: "id", member: "session_id"),
        ])

    private static let remedies = SessionReason.allCases.map { "`\($0.rawValue)`: \($0.remedy)" }.joined(separator: " ")

    private static let failed: JSONValue = [
        "event": "sign_in", "state": "failed", "reason": "no_match", "retryable": true, "attempts_left": 4, "liveness": "not_performed",
        "completed_at": "2025-10-27T10:00:12Z",
    ]

    private static let session = JSONSchema.object(
        [
            "session_id": .uuid, "event": .one(of: EkycEvent.self), "state": .one(of: SessionState.self),
            "created_at": .instant, "expires_at": .instant,
        ],
        optional: [
            "reason": .one(of: SessionReason.self).described(remedies), "retryable": .boolean, "attempts_left": .count,
            "retry_at": .instant, "verification_id": .uuid, "reference": .reference, "completed_at": .instant,
            "liveness": .one(of: Liveness.self),
        ])

    /// A form of photos, with the additional fields of a sign-up.
    private static func form(_ form: UploadForm, _ others: [(String, JSONSchema)]) -> JSONSchema {
        func photos(isOptional: Bool) -> [(String, JSONSchema)] {
            form.photoFields.filter { $0.isOptional == isOptional }
                .map { ($0.name, JSONSchema.array(of: .file, upTo: $0.count, from: $0.count)) }
        }
        let email: [(String, JSONSchema)] = [(UploadForm.email, .text)]
        let required = photos(isOptional: false) + (form.event == .signIn ? email : [])
        let challenge = [(ChallengeGate.field, JSONSchema.text)] + photos(isOptional: true)
        let optional = [(UploadForm.pushToken, .text)] + others + (form.event == .signIn ? [] : email) + challenge
        return .object(required, optional: optional).described("Fields and files of other names are ignored, and not stored")
    }
}
