internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// Answers `PUT /v1/users/me/email`: names another e-mail address, which counts once its code is entered at `POST /v1/auth/verify`.
/// Needs a sign-in of the last five minutes.
struct EmailController: Sendable {
    let keys: AccountKeys
    let verification: VerificationController

    func put(_ call: APICall<Identity, Void, EmailBody>) async throws -> BegunVerification {
        let (identity, context) = (call.sender, call.context)
        let email = try EmailAddress(ofClient: call.body.email, for: verification.mail)
        try await verification.checkRate(context)
        let new = NewEmailVerification(
            purpose: .emailChange, accountID: identity.userID, signInID: identity.signInID,
            email: try keys.sealed(email, of: identity.userID), origin: keys.origin(context.client), requestID: context.requestID,
            traceparent: context.traceparent)
        let times = try await verification.postgres.withTransaction { try await begin(new, by: identity, context, in: $0) }
        return BegunVerification(id: new.id, times: times)
    }

    private func begin(
        _ new: NewEmailVerification, by identity: Identity, _ context: APIRequestContext, in transaction: PostgresTransaction
    ) async throws -> CodeTimes {
        try await DeviceKeyGate.use(identity.proof, in: transaction)
        // In the order that ``CodeMailRepository/lock(_:)`` names: the mail is planned below.
        try await CodeMailRepository(transaction).lock(new.email.lookups)
        let signIns = SignInRepository(transaction)
        try await signIns.lock(of: identity.userID)
        // The token was checked before the lock; what asks for the code must still be valid when the code is entered.
        guard try await signIns.hold(identity.signInID, of: identity.userID, since: identity.authenticatedAt ?? .distantPast) else {
            throw APIError.unauthorized("The sign-in has ended")
        }
        if let wait = try await EmailVerificationRepository(transaction).changeWait(of: identity.userID) {
            throw APIError.rateLimited("Too many changes of the e-mail in 24 hours", wait: wait)
        }
        let times = try await verification.begin(new, in: transaction)
        // To the address that still counts.
        try await OutboxRepository(transaction).publish(
            MailRequested(kind: .emailChangeRequested, subjectID: new.accountID), requestID: context.requestID,
            traceparent: context.traceparent)
        try await AuditRepository(transaction).append(
            AuditEntry(
                .emailChangeRequested, by: .user(identity.userID), on: identity.userID, object: new.id, requestID: context.requestID,
                addressKey: new.origin.addressKey))
        return times
    }
}
