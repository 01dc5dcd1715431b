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
    /// Whoever says to have this address.
    case email(EmailAddress)
}

/// Writes the session of a complete upload: one transaction, with the event that sets the worker to it.
struct SessionStarter: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    /// Counts the sessions that are started for an account.
    let limiter: RateLimiter<Account>

    /// Whose sessions are counted, each event by itself: a flood of sign-ups is no reason to refuse a sign-in.
    struct Account: Hashable, Sendable {
        let userID: UUID
        let event: EkycEvent
        /// An installation that is known to the account and has a bucket of its own; nil for all together.
        var installationKey: [UInt8]?
    }

    /// What the answer to an upload needs.
    struct Started: Sendable {
        let sessionID: UUID
        let token: OpaqueToken
    }

    /// Starts a session. A known and an unknown e-mail take the same statements and so the same time.
    ///
    /// - Throws: `rate_limited` when too many were started for the account, known or unknown; `account_locked` for a sign-in
    ///   after too many failed ones, `overloaded` while too many are undecided; ``OutcomeUnknown`` when the commit was not
    ///   answered and the session is not there, or the database cannot be asked now.
    func start(
        _ upload: ReceivedUpload, sessionID: UUID, form: UploadForm, owner: UploadOwner, target: PushTarget,
        requestID: String, traceparent: String?
    ) async throws -> Started {
        let installationKey = keys.installationKey(target)
        try await limit(Account(userID: claimedUserID(of: owner), event: form.event), from: installationKey)
        let token = OpaqueToken.generate()
        let pushTokenSealed = try keys.sealed(target, for: sessionID)
        let email = form.event == .signUp ? try sessionEmail(of: owner) : nil
        try await postgres.write(confirming: { try await SessionRepository(postgres).find(id: sessionID) != nil }) { transaction in
            let userID = try await userID(of: owner, transaction)
            let sessions = SessionRepository(transaction)
            if form.event == .signIn {
                try SignInLock.check(try await sessions.lockSignInAttempts(userID: userID, installationKey: installationKey))
            }
            let bearer: Identity? = if case .authorised(let identity) = owner { identity } else { nil }
            try await sessions.insert(
                NewSession(
                    id: sessionID, userID: userID, event: form.event, authorised: bearer != nil,
                    authorisedBy: bearer?.signInID, email: email, tokenHash: token.hash, pushTokenSealed: pushTokenSealed,
                    installationKey: installationKey, photos: upload.photos,
                    requestID: requestID, traceparent: traceparent))
            try await OutboxRepository(transaction).publish(
                EkycRequested(sessionID: sessionID, event: form.event), requestID: requestID, traceparent: traceparent)
        }
        return Started(sessionID: sessionID, token: token)
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
    private func claimedUserID(of owner: UploadOwner) -> UUID {
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
