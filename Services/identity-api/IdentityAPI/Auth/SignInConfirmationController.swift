internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import Logging
internal import Metrics
internal import PostgresClient
internal import WireFormat

/// Answers `GET /v1/users/me/sign-in-confirmations`, and `POST` and `DELETE` of one: the sign-ins on new devices that ``NewDeviceGate``
/// holds back, which a device of the account with a key confirms in place of the mailed code, or denies.
struct SignInConfirmationController: Sendable {
    /// The result of a confirmation: a label of `sign_in_confirmations_total`.
    enum Outcome: String {
        /// A push has asked for it.
        case asked
        case confirmed, wrong, denied
    }

    let postgres: PostgresClient
    let keys: AccountKeys

    func list(_ call: UserCall) async throws -> [WaitingSignIn] {
        try await EmailVerificationRepository(postgres).waitingSignIns(of: call.sender.userID).map(WaitingSignIn.init)
    }

    /// Confirms a sign-in with the reference that the new device shows, so that a blind tap confirms nothing. A wrong one takes an attempt
    /// to enter the code.
    func confirm(_ call: APICall<Identity, UUID, ConfirmationBody>) async throws {
        let (identity, id) = (call.sender, call.target)
        let attemptsLeft = try await postgres.withTransaction { transaction -> Int? in
            let verifications = EmailVerificationRepository(transaction)
            guard let waiting = try await verifications.takeAttempt(toConfirm: id, of: identity.userID) else {
                throw APIError.confirmationNotFound
            }
            try await hold(identity, in: transaction)
            // Committed with a wrong reference, too: the attempt has to count.
            guard constantTimeEqual(Array(waiting.reference.utf8), Array(call.body.reference.letters.utf8)) else {
                return waiting.attemptsLeft
            }
            _ = try await verifications.verify(id: id)
            try await record(.signInConfirmed, of: id, by: identity, call.context, in: transaction)
            return nil
        }
        Self.count(attemptsLeft == nil ? .confirmed : .wrong)
        if let attemptsLeft { throw APIError.wrongReference(attemptsLeft: attemptsLeft) }
        call.context.logger.info("a sign-in was confirmed", metadata: ["session_id": "\(id.wireString)"])
    }

    /// Ends a sign-in for good: it gives no tokens, whatever is entered.
    func deny(_ call: APICall<Identity, UUID, EmptyBody>) async throws {
        let (identity, id) = (call.sender, call.target)
        let isFirst = try await postgres.withTransaction { transaction -> Bool in
            guard let isFirst = try await EmailVerificationRepository(transaction).denySignIn(id, of: identity.userID) else {
                throw APIError.confirmationNotFound
            }
            try await hold(identity, in: transaction)
            if isFirst { try await record(.signInDenied, of: id, by: identity, call.context, in: transaction) }
            return isFirst
        }
        guard isFirst else { return }
        Self.count(.denied)
        call.context.logger.info("a sign-in was denied", metadata: ["session_id": "\(id.wireString)"])
    }

    static func count(_ outcome: Outcome) {
        Counter(label: "sign_in_confirmations_total", dimensions: [("result", outcome.rawValue)]).increment()
    }

    /// Uses the proof up, and keeps the sender's sign-in valid until the transaction ends. Call after the verification is locked: a
    /// redemption locks it before the sign-ins that it replaces.
    private func hold(_ identity: Identity, in transaction: PostgresTransaction) async throws {
        try await DeviceKeyGate.use(identity.proof, in: transaction)
        guard let signInID = identity.signInID,
            try await AccessTokenRepository(transaction).hold(signIn: signInID, of: identity.userID)
        else { throw APIError.bearerEnded }
    }

    private func record(
        _ action: AuditAction, of id: UUID, by identity: Identity, _ context: APIRequestContext, in transaction: PostgresTransaction
    ) async throws {
        try await AuditRepository(transaction).append(
            keys.auditEntry(action, by: .user(identity.userID), on: identity.userID, object: id, context))
    }
}

extension APIError {
    static let confirmationNotFound = APIError(.notFound, "No sign-in with this id waits for a confirmation")

    fileprivate static func wrongReference(attemptsLeft: Int) -> APIError {
        let message =
            attemptsLeft > 0
            ? "The reference is wrong; enter the four letters that the new device shows"
            : "The reference is wrong; ask for another code on the new device, or sign in there again"
        return .invalidCode(attemptsLeft: attemptsLeft, message, field: EnteredReference.field)
    }
}
