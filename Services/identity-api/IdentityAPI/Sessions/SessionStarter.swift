internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import JSON
internal import Logging
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// The owner of the session that an upload starts.
enum UploadOwner: Sendable {
    /// The bearer's own account: a sign-up replaces its face, if the bearer's sign-in is still valid when the session is decided.
    case authorised(Identity)
    /// A client that has proven an e-mail address, and may recover the account of the address.
    case verified(EmailVerification, isRecovery: Bool)
    /// A client that claims this e-mail address.
    case email(EmailAddress)

    /// The identity that authorised the session; nil for an e-mail.
    var bearer: Identity? { if case .authorised(let identity) = self { identity } else { nil } }
    /// The proof of the e-mail address, if there is one.
    var verification: EmailVerification? { if case .verified(let verification, _) = self { verification } else { nil } }
}

/// The request of a complete upload.
struct SessionOrder: Sendable {
    let form: UploadForm
    let owner: UploadOwner
    /// The installation that gets a push with the result; nil for a phone without pushes, whose app asks for the session.
    let target: PushTarget?
    var upload: ReceivedUpload
    /// The failed session whose photos it retakes; nil for an upload with all its photos.
    var retake: Retake?
    /// Of a sign-in, the proof of its e-mail, if its sender has one.
    var proof: EmailVerification?
    /// Of a sign-in, the proof of the device's key, if its sender has one.
    var deviceProof: DeviceProof?
    /// The fingerprint that a repetition must have as well; 32 bytes.
    let fingerprint: [UInt8]

    /// The identity that authorised the session; nil for an e-mail.
    var bearer: Identity? { owner.bearer }
    /// Whether the face is to replace the account's face.
    var isRecovery: Bool { if case .verified(_, isRecovery: true) = owner { true } else { false } }
}

/// Writes the session of a complete upload in one transaction with the event that starts the worker.
struct SessionStarter: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    let admission: SessionAdmission
    let brakes: SignInBrakes
    /// Limits the sessions started for an account.
    let limiter: RateLimiter<Account>

    /// The key of a rate limit: an account and an event, so that a flood of sign-ups does not block sign-ins.
    struct Account: Hashable, Sendable {
        /// The first one of ``SessionStarter/countedIDs(of:)``.
        let id: UUID
        let event: EkycEvent
        /// Whether the request has the account's bearer: strangers who use the account's e-mail do not empty its owner's bucket.
        let isAuthorised: Bool
        /// The key or the installation of a known device of the account, which has a bucket of its own; nil for the bucket of all.
        var device: [UInt8]?
        /// Whether a sign-in proves the e-mail: such ones have a bucket of their own.
        var isProven = false
        /// The site of a request that names the e-mail only: strangers at other sites do not empty its bucket. Refused requests take
        /// tokens too, so one bucket for all sites would let a few tiny uploads a minute keep the owner's new phone out.
        var site: IPAddress?
    }

    /// The request that starts a session.
    struct Origin: Sendable {
        let address: IPAddress
        let requestID: String
        let traceparent: String?
        /// Notes the limits that the request counts against.
        let limits: RateLimitRecord
    }

    /// Refuses an upload before its body is read, if its session could not be started now.
    ///
    /// - Parameters:
    ///   - bearer: The account that authorises a sign-up.
    ///   - mayBeKnown: Whether the body may name an installation that is known to the account.
    ///   - key: The idempotency key. A repetition of an answered request is admitted under any load: it starts no session, and responses
    ///     are lost most often under load.
    func checkAdmission(
        from address: IPAddress, bearer: Identity?, mayBeKnown: Bool, route: String, key: String?
    ) async throws {
        let (sessions, origin) = (SessionRepository(postgres), keys.origin(address))
        let undecided = try await sessions.undecided(of: origin, installationKey: nil, accountID: bearer?.userID)
        let used = try await sessions.engineTime(of: origin, userID: bearer?.userID)
        do {
            try admission.check(undecided, used, lane: mayBeKnown && admission.goesFirst(used, undecided) ? .known : .new)
        } catch {
            guard let key, try await IdempotencyRepository(postgres).isAnswered(route: route, key: key) else { throw error }
        }
    }

    /// Starts a session. A known and an unknown e-mail take the same statements, and so the same time.
    ///
    /// - Parameters:
    ///   - consent: The sender's consent; nil when no consent is required.
    ///   - challenge: The challenge that the upload answers, as ``ChallengeGate`` has checked it; nil without a challenge.
    ///   - complete: Adds the photos that a retake does not send, which costs more than the request: called within the limits alone.
    /// - Returns: The answer, as stored for repetitions.
    /// - Throws: `rate_limited` when too many sessions were started for the account, known or unknown; `account_locked` for a sign-in after
    ///   too many failed ones; `challenge_used` for a challenge that started another session; `retake_unavailable` when another retake has
    ///   used the photos of the failed session; `invalid_dpop_proof` for a proof that was used before; `overloaded` while too many sessions
    ///   are undecided; `rate_limited` when the photos of the address have taken too much time; `request_in_progress` when the lease had
    ///   run out and another attempt has taken it; ``OutcomeUnknown`` when the commit was not confirmed and the session is not found, or
    ///   the database cannot be queried now.
    func start(
        _ order: SessionOrder, _ consent: ConsentedText?, _ challenge: FaceChallenge?, sessionID: UUID, token: OpaqueToken,
        lease: IdempotencyLease?, origin: Origin, completing complete: (SessionOrder) async throws -> SessionOrder = { $0 }
    ) async throws -> IdempotencyAnswer {
        let registration = try order.target.map { try keys.registration(of: $0, seenAt: Date()) }
        try await limit(order, from: registration?.installationKey, origin)
        let order = try await complete(order)
        let answer = IdempotencyAnswer(
            fingerprint: order.fingerprint, resourceID: sessionID, status: 200,
            body: Answer.successBody(order.form.successMessage, data: StartedSession(id: sessionID).json).text)
        let newID = UUID()
        let attemptKeys = order.form.event == .signIn ? countedIDs(of: order.owner) : []
        let new = NewSession(
            id: sessionID, userID: newID, event: order.form.event, estimatedCost: order.upload.cost, authorised: order.bearer != nil,
            authorisedBy: order.bearer?.signInID, verificationID: order.owner.verification?.id ?? order.proof?.id,
            isRecovery: order.isRecovery, email: try sessionEmail(of: order, newID), consent: consent,
            attemptKey: attemptKeys.first, otherAttemptKeys: Array(attemptKeys.dropFirst()),
            tokenHash: token.hash, deviceKey: order.deviceProof?.key.thumbprint, installationKey: registration?.installationKey,
            origin: keys.origin(origin.address),
            photos: order.upload.photos, photoBytes: order.upload.photoBytes, retaken: order.retake?.session,
            challenge: order.retake?.session.challenge ?? challenge?.poses, requestID: origin.requestID, traceparent: origin.traceparent)
        try await postgres.write(confirming: { try await SessionRepository(postgres).find(id: sessionID) != nil }) { transaction in
            if let lease, try await !IdempotencyRepository(transaction).complete(lease, with: answer) {
                throw APIError.requestInProgress
            }
            // Before all locks of accounts and addresses: a session with the same challenge, which this waits for, may wait for those.
            if let challenge {
                let isNew = try await UsedChallengeRepository(transaction).use(id: challenge.id, expiresAt: challenge.forgottenAt)
                guard isNew else { throw ChallengeGate.used }
            }
            if let retake = order.retake, try await !SessionRepository(transaction).takePhotos(for: retake.request) {
                throw PhotoRetakes.unavailable
            }
            try await DeviceKeyGate.use(order.deviceProof ?? order.bearer?.proof, in: transaction)
            if let bearer = order.bearer, bearer.signInID == nil {
                // The upload took its time: the sign-in must not have been revoked since its token was checked.
                let identities = FederatedIdentityRepository(transaction)
                guard try await identities.hold(signInsOf: bearer.userID, since: bearer.authenticatedAt ?? .distantPast) else {
                    throw APIError.unauthorized("The sign-in has ended")
                }
            }
            let session = try await insert(new, on: registration, for: order.owner, in: transaction)
            guard !session.awaitsTurn else { return }
            try await OutboxRepository(transaction).request(session)
        }
        return answer
    }

    /// Writes the session and registers its push token, unless a limit of failed or undecided sessions is reached.
    private func insert(
        _ new: NewSession, on registration: PushRegistration?, for owner: UploadOwner, in transaction: PostgresTransaction
    ) async throws -> Session {
        var new = new
        if new.event == .signIn, case .email(let email) = owner {
            let (users, lookups) = (UserRepository(transaction), keys.emailLookups(email))
            // A change of the e-mail ends the sign-ins that were begun with it, including this one.
            try await users.hold(emailLookups: lookups)
            if lookups.count > 1 { try await users.add(emailLookups: lookups) }
        }
        if let id = try await userID(of: owner, new.event, transaction) { new.userID = id }
        let sessions = SessionRepository(transaction)
        var isKnown = new.authorised
        if let attemptKey = new.attemptKey {
            let isProven = new.verificationID != nil
            let attempts = try await sessions.lockSignInAttempts(
                attemptKeys: [attemptKey] + new.otherAttemptKeys, userID: new.userID, deviceKey: new.deviceKey,
                installationKey: new.installationKey, isProven: isProven)
            try SignInLock.check(attempts)
            isKnown = attempts.isKnown
            if !isKnown, !isProven {
                let load = try await sessions.failedSignIns(
                    from: new.origin, installationKey: new.installationKey,
                    limits: brakes.limits)
                try brakes.check(load, hasChallenge: new.challenge != nil)
            }
        }
        let undecided = try await sessions.lockUndecided(
            of: new.origin, installationKey: new.installationKey, accountID: new.authorised ? new.userID : nil)
        let used = try await sessions.engineTime(of: new.origin, userID: new.userID)
        new.isKnown = isKnown
        new.lane = admission.lane(
            used, adding: new.estimatedCost, photoCount: new.photos.count,
            goesFirst: isKnown && admission.goesFirst(used, undecided, adding: new.estimatedCost))
        try admission.check(undecided, used, lane: new.lane, adding: new.photoBytes)
        new.awaitsTurn = admission.awaitsTurn(undecided, new.lane)
        if let registration { new.installID = try await PushInstallRepository(transaction).registerUnbound(registration).id }
        return try await sessions.insert(new)
    }

    /// Takes a token from the account's bucket or, if that is empty, from a second bucket for sign-ins that prove the e-mail or come from a
    /// known device: strangers who send the account's e-mail must not lock its owner out.
    private func limit(_ order: SessionOrder, from installationKey: [UInt8]?, _ origin: Origin) async throws {
        let limits = origin.limits
        var account = Account(id: countedIDs(of: order.owner)[0], event: order.form.event, isAuthorised: order.bearer != nil)
        if case .email = order.owner { account.site = origin.address.site }
        let refusal: APIError
        do throws(APIError) { return try limiter.admit(account, limits, or: "Too many uploads for this account") } catch {
            refusal = error
        }
        var own = account
        own.site = nil
        if order.proof != nil {
            own.isProven = true
            return try limiter.admit(own, limits, or: refusal.message)
        }
        let deviceKey = order.deviceProof?.key.thumbprint
        guard account.event == .signIn, deviceKey != nil || installationKey != nil,
            let userID = try await userID(of: order.owner, .signIn, postgres),
            let known = try await AccessTokenRepository(postgres).knownDevice(
                deviceKey: deviceKey, installationKey: installationKey, to: userID)
        else { throw refusal }
        own.device = known == .key ? deviceKey : installationKey
        do throws(APIError) { try limiter.admit(own, limits, or: refusal.message) } catch { throw refusal }
    }

    /// The ids under which the request is counted and repeated: the account, the proof, or the e-mail with or without an account, for which
    /// each lookup key has another one. The first one is stored.
    func countedIDs(of owner: UploadOwner) -> [UUID] {
        switch owner {
        case .authorised(let identity): [identity.userID]
        case .verified(let verification, _): [verification.id]
        case .email(let email): keys.attemptKeys(email)
        }
    }

    /// The account of an upload: a decoy for a sign-in with an unknown e-mail; nil for a sign-up whose account gets a new id.
    private func userID(of owner: UploadOwner, _ event: EkycEvent, _ db: some PostgresQueryable) async throws -> UUID? {
        let users = UserRepository(db)
        switch owner {
        case .authorised(let identity):
            return identity.userID
        case .verified(let verification, _):
            return try await users.find(emailLookups: verification.email.lookups)?.id ?? verification.accountID
        case .email(let email):
            guard event == .signIn else { return nil }
            return try await users.find(emailLookups: keys.emailLookups(email))?.id ?? keys.attemptKeys(email)[0]
        }
    }

    /// The e-mail that a sign-up without proof keeps until it is decided.
    private func sessionEmail(of order: SessionOrder, _ accountID: UUID) throws -> SealedEmail? {
        guard order.form.event == .signUp, case .email(let email) = order.owner else { return nil }
        return try keys.sealed(email, of: accountID)
    }
}
