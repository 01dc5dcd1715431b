internal import Accounts
internal import Hummingbird

extension RequestSender<UploadOwner?> {
    /// Anyone; the owner that the bearer token of a sign-up names. An invalid token is refused even when the form has an e-mail.
    static var ownerOfSignUp: RequestSender {
        RequestSender(
            bearers: [.none, .access, .enrolment], parameters: [.deviceProof], errors: DeviceKeyGate.errors
        ) { request, context, routes in
            guard let token = try request.headers.bearer() else { return nil }
            guard token.hasPrefix(OpaqueToken.enrolmentPrefix) else {
                let identity = try await routes.gate.users.identify(bearer: token)
                return .authorised(try await routes.deviceKeys.confirm(identity, request, context))
            }
            return .verified(try await routes.uploads.verification(of: token), isRecovery: false)
        }
    }
}

extension RequestSender<EmailVerification?> {
    /// Anyone; the proof of the e-mail that comes with a sign-in. Other bearers are ignored.
    static var proofOfSignIn: RequestSender {
        RequestSender(bearers: [.none, .enrolment]) { request, _, routes in
            guard let token = try? request.headers.bearer(), token.hasPrefix(OpaqueToken.enrolmentPrefix) else { return nil }
            return try await routes.uploads.verification(of: token)
        }
    }
}

extension UploadController {
    /// Returns the proof of an e-mail that an enrolment token stands for.
    fileprivate func verification(of token: String) async throws -> EmailVerification {
        guard let verification = try await EmailVerificationRepository(starter.postgres).find(tokenHash: OpaqueToken.hash(token)) else {
            throw APIError.unauthorized("The enrolment token is unknown, or has ended: verify the e-mail address again")
        }
        return verification
    }
}
