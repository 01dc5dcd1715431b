internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON

extension APIOperation {
    /// Proofs of e-mail addresses.
    static let verifications: [APIOperation] = [
        APIOperation(
            .post, "/v1/auth/register", id: "registerEmail", area: .faces,
            summary: "Mails a code to an address, at once or with its next mail; the answer is the same for every address",
            from: .anyone { try await $0.verification.checkRate($1) }, reply: .begunVerification, errors: [.invalidEmail],
            repetition: "another mail", handler: { $0.verification.register }),
        APIOperation(
            .post, "/v1/auth/resend", id: "resendCode", area: .faces,
            summary:
                "Asks for a new code in the next mail to the address, at most once a minute; the answer says when it comes and ends",
            from: .anyone { try await $0.verification.checkRate($1) }, reply: .begunVerification, errors: [.notFound, .limitReached],
            repetition: "another mail, after a minute", handler: { $0.verification.resend }),
        APIOperation(
            .post, "/v1/auth/verify", id: "verifyEmail", area: .faces,
            summary: "Enters a code: gives an `enrolment_token` for a sign-up within 15 minutes, or the `user_id` whose sign-up or address "
                + "it was for",
            from: .anyone { try $0.verification.checkCodes($1) },
            reply: .data(
                "The address is proven", cacheControl: "no-store",
                example: ["purpose": "registration", "enrolment_token": "he_5Qx0Jx3yq1Fz", "token_type": "Bearer", "expires_in": 900]),
            errors: [.invalidCode, .alreadyEnrolled, .faceInUse, .unauthorized], repetition: "the same answer",
            handler: { $0.verification.verify }),
    ]
}
