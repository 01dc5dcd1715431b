internal import HTTPTypes
internal import JSON
internal import Storage

extension APIOperation {
    /// Proofs of e-mail addresses, and the tokens of sign-ins.
    static let auth: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/auth/register", id: "registerEmail", area: .faces,
            summary: "Mails a code to an address, at once or with its next mail; the answer is the same for every address",
            body: .json(
                .object(["email": .text(3...254)], optional: ["display_name": .displayName.orNull]),
                upTo: VerificationController.maxBodyBytes),
            replies: [verification], errors: [.invalidEmail], repetition: "another mail", handler: { $0.verification.register }),
        APIOperation(
            method: .post, path: "/v1/auth/resend", id: "resendCode", area: .faces,
            summary:
                "Asks for a new code in the next mail to the address, at most once a minute; the answer says when it comes and ends",
            body: .json(.object(["verification_id": .uuid]), upTo: VerificationController.maxBodyBytes), replies: [verification],
            errors: [.notFound, .limitReached], repetition: "another mail, after a minute", handler: { $0.verification.resend }),
        APIOperation(
            method: .post, path: "/v1/auth/verify", id: "verifyEmail", area: .faces,
            summary: "Enters a code: gives an `enrolment_token` for a sign-up within 15 minutes, or the `user_id` whose sign-up or address "
                + "it was for",
            body: .json(.object(["verification_id": .uuid, "code": .text(1...16)]), upTo: VerificationController.maxBodyBytes),
            replies: [
                .data(
                    .object(
                        ["purpose": .one(of: EmailVerification.Purpose.self)],
                        optional: [
                            "enrolment_token": .text, "token_type": .constant("Bearer"), "expires_in": .count, "user_id": .uuid,
                            "face_enrolled": .boolean,
                        ]),
                    "The address is proven",
                    example: ["purpose": "registration", "enrolment_token": "he_5Qx0Jx3yq1Fz", "token_type": "Bearer", "expires_in": 900])
            ],
            errors: [.invalidCode, .alreadyEnrolled, .faceInUse, .unauthorized], repetition: "the same answer",
            handler: { $0.verification.verify }),
        APIOperation(
            method: .post, path: "/api/v1/auth/refresh", id: "refreshTokens", area: .faces,
            summary: "Renews the tokens of a sign-in; again within 30 seconds: the same new tokens",
            body: .json(.object(["refresh_token": .text]), upTo: TokenController.maxBodyBytes),
            replies: [.bare(tokens, "The new tokens")], errors: [.unauthorized],
            repetition: "the same tokens, 30 seconds", handler: { $0.tokens.refresh }),
        APIOperation(
            method: .post, path: "/api/v1/auth/logout", id: "logOut", area: .faces,
            summary: "Ends the sign-in, and the pushes to its device", bearers: [.access],
            replies: [.success(.null, "The sign-in has ended")], repetition: "401: it has ended", handler: { $0.tokens.logout }),
    ]

    /// The answer to a request for a code.
    static let verification = APIReply.data(
        .object(
            ["verification_id": .uuid, "reference": .reference, "mail_after": .count, "expires_in": .count, "resend_after": .count]),
        status: 202, "What to show with the code, when its mail comes and when it ends")
}

extension JSONSchema {
    /// The reference beside a code in a mail.
    static let reference = text(CodeReference.length...CodeReference.length)
    static let displayName = text(1...DisplayName.maxBytes)
}
