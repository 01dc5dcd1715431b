internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Whose session an upload starts.
enum UploadOwner: Sendable {
    /// The bearer's own account: a sign-up replaces its face, if the bearer's sign-in is still good when it is decided.
    case authorised(Identity)
    /// A client that claims this e-mail address.
    case email(EmailAddress)
}

/// What a complete upload asks for.
struct SessionOrder: Sendable {
    let form: UploadForm
    let owner: UploadOwner
    let target: PushTarget
    let upload: ReceivedUpload
    /// What another request must ask for to be a repetition; 32 bytes.
    let fingerprint: [UInt8]

    /// Who authorised the session.
    var bearer: Identity? { if case .authorised(let identity) = owner { identity } else { nil } }
}

/// Writes the session of a complete upload: one transaction, with the event that sets the worker to it.
struct SessionStarter: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    let admission: SessionAdmission
    /// Counts the sessions that are started for an account.
    let limiter: RateLimiter<Account>

    /// The account whose sessions are counted, each event by itself: a flood of sign-ups is no reason to refuse a sign-in.
    struct Account: Hashable, Sendable {
        let userID: UUID
        let event: EkycEvent
        /// Whether the request has the account's bearer: strangers who try the account's e-mail do not use up its owner's bucket.
        let isAuthorised: Bool
        /// An installation that is known to the account and has a bucket of its own; nil for all together.
        var installationKey: [UInt8]?
    }

    /// The request that a session is started by.
    struct Origin: Sendable {
        let address: IPAddress
        let requestID: String
        let traceparent: String?
    }

    /// Refuses an upload whose session would not be started now, before its body is read.
    ///
    /// - Parameters:
    ///   - bearer: The account that authorises a sign-up.
    ///   - mayBeKnown: Whether the body may name an installation that is known to the account.
    ///   - key: The idempotency key. A request that was answered is let in whatever the load: it starts no session, and load is what
    ///     loses responses.
    func checkAdmission(
        from address: IPAddress, bearer: Identity?, mayBeKnown: Bool, route: String, key: String?
    ) async throws {
        let undecided = try await SessionRepository(postgres).undecided(
            of: keys.addressKey(address), installationKey: nil, accountID: bearer?.userID)
        do {
            try admission.check(undecided, isKnown: mayBeKnown)
        } catch {
            guard let key, try await IdempotencyRepository(postgres).isAnswered(route: route, key: key) else { throw error }
        }
    }

    /// Starts a session. A known and an unknown e-mail take the same statements and so the same time.
    ///
    /// - Returns: The answer, as it was kept for repetitions.
    /// - Throws: `rate_limited` when too many were started for the account, known or unknown; `account_locked` for a sign-in
    ///   after too many failed ones, `overloaded` while too many are undecided; `request_in_progress` when the lease had run out
    ///   and another try of the request has it; ``OutcomeUnknown`` when the commit was not
    ///   answered and the session is not there, or the database cannot be asked now.
    func start(
        _ order: SessionOrder, sessionID: UUID, token: OpaqueToken, lease: IdempotencyLease?, origin: Origin
    ) async throws -> IdempotencyAnswer {
        let installationKey = keys.installationKey(order.target)
        let account = Account(
            userID: claimedUserID(of: order.owner), event: order.form.event, isAuthorised: order.bearer != nil)
        try await limit(account, from: installationKey)
        let data = JSONText.members(("session_id", .string(sessionID.wireText)))
        let answer = IdempotencyAnswer(
            fingerprint: order.fingerprint, resourceID: sessionID, status: 200,
            body: Answer.successBody(order.form.successMessage, data: data).text)
        let new = NewSession(
            id: sessionID, userID: claimedUserID(of: order.owner), event: order.form.event, authorised: order.bearer != nil,
            authorisedBy: order.bearer?.signInID, email: order.form.event == .signUp ? try sessionEmail(of: order.owner) : nil,
            tokenHash: token.hash, pushTokenSealed: try keys.sealed(order.target, for: sessionID), installationKey: installationKey,
            addressKey: keys.addressKey(origin.address), photos: order.upload.photos, photoBytes: order.upload.photoBytes,
            requestID: origin.requestID, traceparent: origin.traceparent)
        try await postgres.write(confirming: { try await SessionRepository(postgres).find(id: sessionID) != nil }) { transaction in
            if let lease, try await !IdempotencyRepository(transaction).complete(lease, with: answer) {
                throw APIError.requestInProgress
            }
            let lane = try await insert(new, for: order.owner, in: transaction)
            try await OutboxRepository(transaction).publish(
                EkycRequested(sessionID: sessionID, event: order.form.event, lane: lane), requestID: origin.requestID,
                traceparent: origin.traceparent)
        }
        return answer
    }

    /// Writes the session, if neither its account nor anything else has too many that are undecided.
    ///
    /// - Returns: The lane of its event.
    private func insert(
        _ new: NewSession, for owner: UploadOwner, in transaction: PostgresTransaction
    ) async throws -> EkycLane {
        var new = new
        new.userID = try await userID(of: owner, transaction)
        let sessions = SessionRepository(transaction)
        var isKnown = new.authorised
        if new.event == .signIn, let installationKey = new.installationKey {
            try SignInLock.check(try await sessions.lockSignInAttempts(userID: new.userID, installationKey: installationKey))
            isKnown = try await AccessTokenRepository(transaction).isKnown(installationKey: installationKey, to: new.userID)
        }
        let undecided = try await sessions.lockUndecided(
            of: new.addressKey, installationKey: new.installationKey, accountID: new.authorised ? new.userID : nil)
        try admission.check(undecided, isKnown: isKnown, adding: new.photoBytes)
        try await sessions.insert(new)
        return isKnown ? .known : .new
    }

    /// Takes a token of the account's bucket, or, where strangers have emptied that, of the bucket of an installation that is known
    /// to the account: others who try its e-mail must not keep its owner out.
    private func limit(_ account: Account, from installationKey: [UInt8]) async throws {
        guard let wait = limiter.take(account) else { return }
        let refusal = APIError.rateLimited("Too many uploads for this account", wait: wait)
        guard account.event == .signIn,
            try await AccessTokenRepository(postgres).isKnown(installationKey: installationKey, to: account.userID)
        else { throw refusal }
        var own = account
        own.installationKey = installationKey
        if limiter.take(own) != nil { throw refusal }
    }

    /// The account as the request names it, without a look at whether it exists.
    func claimedUserID(of owner: UploadOwner) -> UUID {
        switch owner {
        case .authorised(let identity): identity.userID
        case .email(let email): keys.userID(email)
        }
    }

    /// The account that an upload is about; of an unknown e-mail the one it would have.
    private func userID(of owner: UploadOwner, _ transaction: PostgresTransaction) async throws -> UUID {
        switch owner {
        case .authorised(let identity):
            return identity.userID
        case .email(let email):
            let user = try await UserRepository(transaction).find(emailLookup: keys.emailLookup(email))
            return user?.id ?? keys.userID(email)
        }
    }

    /// What a sign-up keeps of its e-mail until it is decided: no account is made before there is a face for it.
    private func sessionEmail(of owner: UploadOwner) throws -> SessionEmail? {
        guard case .email(let email) = owner else { return nil }
        let lookup = keys.emailLookup(email)
        return SessionEmail(lookup: lookup, sealed: try keys.sealed(email, lookup: lookup))
    }
}
