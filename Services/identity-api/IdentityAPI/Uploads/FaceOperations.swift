internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import WireFormat

extension APIOperation {
    /// Sign-ups and sign-ins by face, and their sessions.
    static let faces: [APIOperation] = [
        issueChallenge,
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
            .get, APITarget("/api/v1/ekyc/sessions/{id}", .session, .wait), id: "getSession", area: .faces,
            summary: "The state of a session, and the reason of its failure", from: .holder(of: .session),
            reply: .success("Session found", "The session", cacheControl: "no-store", example: failed),
            errors: [.sessionNotFound, .overloaded], handler: { $0.sessions.status }),
        APIOperation(
            .post, APITarget("/api/v1/ekyc/sessions/{id}/token", .session), id: "redeemSession", area: .faces,
            summary: "The tokens of a sign-in that succeeded within 5 minutes; again: the same tokens", from: .holder(of: .session),
            reply: .bare("The tokens", cacheControl: "no-store"), errors: [.sessionNotFound, .forbidden, .requestInProgress],
            repetition: "the same tokens, 5 minutes", handler: { $0.tokens.redeem }),
    ]

    private static let uploadErrors: Set<ErrorCode> = [
        .invalidImage, .invalidPhotoCount, .invalidEmail, .requestInProgress, .idempotencyKeyReused, .overloaded,
        .challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed,
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

extension APIArgument<UUID> {
    /// The session in the path.
    fileprivate static let session = id("id", "The session's id", or: .sessionNotFound)
}
