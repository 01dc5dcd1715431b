internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push

/// Authenticates Firebase ID tokens. The first token of a person creates their account, with a random id and without an e-mail.
///
/// The e-mail of a token is ignored: an unverified address, or one that passed to another owner, must not open the account that has this
/// e-mail here.
struct FirebaseAuthenticator: Authenticator {
    let verifier: FirebaseTokenVerifier
    let postgres: PostgresClient
    let keys: AccountKeys
    let logger: Logger
    /// Returns the time that expiries are compared with.
    let now: @Sendable () -> Date
    private let tokens = VerifiedTokens()
    private let counters = FirebaseTokenCounters()

    init(
        verifier: FirebaseTokenVerifier, postgres: PostgresClient, keys: AccountKeys, logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        self.verifier = verifier
        self.postgres = postgres
        self.keys = keys
        self.logger = logger
        self.now = now
    }

    /// Returns the owner of an ID token, with one query unless the person is new.
    ///
    /// - Parameter installation: The installation that the request names; it counts if it is registered to the person's account.
    /// - Throws: `unavailable` when Google's keys are not known, so that an app does not take its user's sign-in for ended.
    func authenticate(bearer token: String, on installation: PushTarget?) async throws -> Identity? {
        let verified: VerifiedToken
        do throws(FirebaseTokenFault) {
            verified = try await verify(token)
        } catch {
            return try refuse(error)
        }
        let key = installation?.installationKey
        guard let person = try await find(verified, token, installationKey: key), person.accepts(signInAt: verified.signedInAt)
        else { return try refuse(.revoked) }
        return Identity(
            userID: person.userID, installationKey: person.hasInstallation ? key : nil, authenticatedAt: verified.signedInAt)
    }

    private func verify(_ token: String) async throws(FirebaseTokenFault) -> VerifiedToken {
        let (hash, time) = (SHA256.hash(token), now())
        // A key that Google has withdrawn makes its tokens invalid at once.
        if let known = tokens.find(hash, now: time), verifier.keys.has(known.keyID) {
            counters.known.increment()
            return known
        }
        let claims = try await verifier.verify(token, now: time)
        let verified = VerifiedToken(
            keyID: claims.keyID, subjectLookups: keys.subjectLookups(claims.subject, of: verifier.project.issuer),
            signedInAt: claims.signedInAt, expiresAt: claims.expiresAt)
        tokens.add(verified, hash)
        counters.verified.increment()
        return verified
    }

    /// Returns the person of a token, and creates the account if it does not exist; nil when it was erased after the sign-in.
    ///
    /// - Parameter text: The token itself, which has the provider's id of the person.
    private func find(_ token: VerifiedToken, _ text: String, installationKey: [UInt8]?) async throws -> FederatedIdentity? {
        let identities = FederatedIdentityRepository(postgres)
        let issuer = verifier.project.issuer
        let known = try await identities.find(issuer: issuer, subjectLookups: token.subjectLookups, installationKey: installationKey)
        if let known { return known }
        let subject: String
        do throws(FirebaseTokenFault) {
            subject = try await verifier.verify(text, now: now()).subject
        } catch {
            // Between the two looks it has expired, or the keys have gone.
            if error == .undecided { _ = try refuse(error) }
            return nil
        }
        let newID = UUID()
        let made = try await identities.findOrCreate(
            issuer: issuer, subjectLookups: token.subjectLookups, newID: newID, subjectSealed: try keys.sealedSubject(subject, of: newID),
            signedInAt: token.signedInAt)
        if made?.isNew == true { logger.info("made the account of a Firebase user") }
        return made?.identity
    }

    private func refuse(_ fault: FirebaseTokenFault) throws -> Identity? {
        counters.refused[fault]?.increment()
        guard fault != .undecided else {
            throw APIError.unavailable("The keys of the identity provider are not available now")
        }
        logger.debug("refused an ID token", metadata: ["reason": "\(fault.rawValue)"])
        return nil
    }
}

/// The counters of ID tokens by the result of their verification. Looked up once, because each request increments one.
private struct FirebaseTokenCounters: Sendable {
    private static func counter(_ outcome: String) -> Counter {
        Counter(label: "firebase_tokens_total", dimensions: [("outcome", outcome)])
    }

    /// Tokens that were verified before.
    let known = counter("known")
    let verified = counter("verified")
    let refused = Dictionary(uniqueKeysWithValues: FirebaseTokenFault.allCases.map { ($0, counter($0.rawValue)) })
}

/// Authenticates our own access tokens and, where they are accepted, Firebase ID tokens. Their shape tells which is which.
struct BearerAuthenticator: Authenticator {
    let accessTokens: AccessTokenAuthenticator
    /// Nil when no Firebase project is configured.
    let firebase: FirebaseAuthenticator?

    func authenticate(bearer token: String, on installation: PushTarget?) async throws -> Identity? {
        guard let firebase, UnverifiedToken.hasShape(token) else {
            return try await accessTokens.authenticate(bearer: token, on: installation)
        }
        return try await firebase.authenticate(bearer: token, on: installation)
    }
}
