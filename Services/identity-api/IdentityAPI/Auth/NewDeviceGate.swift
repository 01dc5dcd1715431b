internal import Accounts
internal import FoundationEssentials
internal import JSON
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// What a sign-in needs on a device that is new to the account (`SIGN_IN_NEW_DEVICE`).
enum NewDevicePolicy: String, CaseIterable, Sendable {
    /// The face, and a code that is mailed to the account's address.
    case code
    /// The face alone.
    case face

    /// Reads `SIGN_IN_NEW_DEVICE`.
    static func read(_ settings: Settings) throws(ConfigurationError) -> NewDevicePolicy {
        try settings.choice(
            "SIGN_IN_NEW_DEVICE", default: NewDevicePolicy.code,
            about: "what a sign-in needs on a device that is new to the account: `code`: the face and a mailed code, because photos of a "
                + "person are public; `face`: the face alone")
    }
}

/// Asks for a mailed code before a sign-in on a new device gives tokens: the photos of a person and their e-mail address open no account.
///
/// Only a session that has succeeded gets here, so that nothing shows whether an e-mail has an account.
struct NewDeviceGate: Sendable {
    let policy: NewDevicePolicy
    /// Whether a device without a key is known by the installation that its app names; not where keys are required.
    let trustsInstallations: Bool
    let keys: AccountKeys
    let verification: VerificationController

    /// Whether the sign-in of a session gives tokens with a mailed code only: its device is new, and it came without a proof of the e-mail.
    func needsCode(_ session: Session, _ proof: DeviceProof?, in transaction: PostgresTransaction) async throws -> Bool {
        guard policy == .code, session.event == .signIn, session.verificationID == nil else { return false }
        let installationKey = trustsInstallations ? session.installationKey : nil
        return try await AccessTokenRepository(transaction).knownDevice(
            deviceKey: proof?.key.thumbprint, installationKey: installationKey, to: session.userID) == nil
    }

    /// Returns why a sign-in that needs a code gives no tokens yet; nil after the right code or its confirmation on a known device
    /// (``SignInConfirmationController``), and for a session that gives none anyway:
    /// ``SessionRepository/redeem(id:tokenHash:needsCode:)`` decides.
    ///
    /// Call in the transaction that redeems the session, before that, and commit it with the refusal, too: a mail was asked for, or an
    /// attempt to enter a code was taken.
    ///
    /// - Parameter code: The code that the request enters.
    func refusal(
        of session: Session, _ code: EnteredCode?, in transaction: PostgresTransaction, _ context: APIRequestContext
    ) async throws -> APIError? {
        let verifications = EmailVerificationRepository(transaction)
        guard session.redeemedAt == nil else { return nil }
        guard let begun = try await verifications.find(id: session.id) else {
            return try await begin(session, in: transaction, context)
        }
        guard begun.verifiedAt == nil, begun.deniedAt == nil else { return nil }
        guard let code else { return try await verifications.times(id: session.id).map { .verificationRequired(session.id, $0) } }
        try verification.checkCodes(context)
        let entry = try await verification.enter(code, of: session.id, from: keys.origin(context.client), in: transaction) {
            try await SignInRepository(transaction).holdOffEnd(ofUserOf: session.id)
        }
        guard case .right(let right) = entry else { return entry.refusal }
        _ = try await verifications.verify(id: right.id)
        try await AuditRepository(transaction).append(
            keys.auditEntry(.emailVerified, by: .anonymous, on: session.userID, object: session.id, detail: "sign_in", context))
        return nil
    }

    /// Asks for a mail with a code, unless the session cannot be redeemed any more. ``CodeMailer`` publishes the push about it with that.
    private func begin(_ session: Session, in transaction: PostgresTransaction, _ context: APIRequestContext) async throws -> APIError? {
        guard try await SessionRepository(transaction).mayAskForCode(id: session.id),
            let email = try await UserRepository(transaction).find(id: session.userID)?.email
        else { return nil }
        // A concurrent request for the same tokens may have asked.
        try await CodeMailRepository(transaction).lock(email.lookups)
        if let times = try await EmailVerificationRepository(transaction).times(id: session.id) {
            return .verificationRequired(session.id, times)
        }
        try await verification.checkRate(context, in: transaction)
        let new = NewEmailVerification(
            id: session.id, purpose: .signIn, accountID: session.userID, email: email, origin: keys.origin(context.client),
            requestID: context.requestID, traceparent: context.traceparent)
        return .verificationRequired(session.id, try await verification.begin(new, in: transaction))
    }
}

extension APIError {
    /// The refusal of a sign-in whose device is new to the account, with what the app shows while the person looks for the mail.
    fileprivate static func verificationRequired(_ id: UUID, _ times: CodeTimes) -> APIError {
        var error = APIError(
            .verificationRequired, "This device is new to the account: enter the code that is mailed to its address",
            field: EnteredCode.field)
        error.members = BegunVerification(id: id, times: times).json.members ?? []
        return error
    }
}
