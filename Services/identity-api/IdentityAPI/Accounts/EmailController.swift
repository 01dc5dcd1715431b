internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `PUT /v1/users/me/email`: names another e-mail address, which counts once its code is entered at `POST /v1/auth/verify`.
/// Needs a sign-in of the last five minutes.
struct EmailController: Sendable {
    /// The maximum size of the JSON.
    static let maxBodyBytes = 4 * 1_024

    let keys: AccountKeys
    let authenticator: any Authenticator
    let verification: VerificationController
    /// Limits the changes of one account.
    let limiter: RateLimiter<UUID>

    func put(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try identity.requireRecentSignIn(now: Date())
        try limiter.admit(identity.userID, context.limits, or: "Too many changes by this account")
        let email = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context).email()
        let new = NewEmailVerification(
            purpose: .emailChange, accountID: identity.userID, signInID: identity.signInID, email: try keys.sealed(email))
        try await verification.begin(new, context)
        return VerificationController.accepted(new.id, context)
    }
}
