public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// One photo of a session: the key of its sealed bytes, and its pose.
public struct SessionPhoto: Sendable, Equatable, Codable {
    /// The pose a photo was uploaded as; `any` for sign-in, `challenge` for a sign-up's photo that answers its challenge, which names the
    /// pose.
    public enum Pose: String, Sendable, Codable, CaseIterable {
        case left, right, front, any, challenge
    }

    /// The key in the blob store.
    public var key: String
    /// The pose it was uploaded as.
    public var pose: Pose
    /// SHA-256 of the photo as uploaded, in lower-case hex.
    public var sha256: String

    /// Describes a stored photo.
    public init(key: String, pose: Pose, sha256: String) {
        self.key = key
        self.pose = pose
        self.sha256 = sha256
    }
}

/// One eKYC attempt: a row of `sessions`.
public struct Session: Sendable, Equatable {
    /// The public id.
    public let id: UUID
    /// The account, or a decoy when the e-mail is unknown.
    public let userID: UUID
    /// Sign-up or sign-in.
    public let event: EkycEvent
    /// The lane in which it waits for a face engine.
    public let lane: EkycLane
    /// Whether the request had the account's bearer, or came from an installation that is known to the account.
    public let isKnown: Bool
    /// Whether it waits for the end of others of its address or site before its `EkycRequested` is published.
    public let awaitsTurn: Bool
    /// Whether the request carried a bearer token of the account; the session may then replace an enrolled face.
    public let authorised: Bool
    /// The sign-in of that bearer token, as in `AccessToken.familyID`; `nil` without one, or when another system issues the tokens.
    public let authorisedBy: UUID?
    /// The proof of the e-mail, an `EmailVerification`; `nil` without one.
    public let verificationID: UUID?
    /// Whether the face is to replace the face of the e-mail's account after a delay; only with a proof.
    public let isRecovery: Bool
    /// The e-mail of an undecided sign-up without proof or access token; `nil` for all others.
    public let email: SealedEmail?
    /// What its sender consented to; `nil` when no consent was needed.
    public let consent: Consent?
    /// The id by which the sign-ins with an e-mail are counted, whether it has an account or not; `nil` for a sign-up.
    public let attemptKey: UUID?
    /// The attempt keys under other lookup keys, by which earlier sign-ins may be counted.
    public let otherAttemptKeys: [UUID]
    /// The state.
    public let state: SessionState
    /// Why it failed or expired; `nil` otherwise.
    public let reason: SessionReason?
    /// The bad photos; empty unless it failed for a reason of ``SessionReason/isOfPhotosAlone``.
    public let photoProblems: [PhotoProblems]
    /// Whether another attempt could succeed at once, as of ``completedAt``; `nil` unless it failed or expired.
    public let retryable: Bool?
    /// The failed sign-ins that the account's budget still allowed after this one; `nil` unless it is a failed sign-in.
    public let attemptsLeft: Int?
    /// The end of the lock that its failure caused, or found; `nil` unless ``attemptsLeft`` is 0.
    public let lockedUntil: Date?
    /// SHA-256 of the session token; 32 bytes.
    public let tokenHash: [UInt8]
    /// The `PushInstall` with the upload's FCM token; `nil` once the push about a failure is settled.
    public let installID: UUID?
    /// The device, as in `PushInstall.installationKey`.
    public let installationKey: [UInt8]?
    /// The thumbprint of the key that the upload of a sign-in proved, as in ``DeviceKey/thumbprint``; `nil` without a proof.
    public let deviceKey: [UInt8]?
    /// Where the client was.
    public let origin: RequestOrigin
    /// The stored photos; empty once they are deleted.
    public let photos: [SessionPhoto]
    /// The first session of its series, in which each session after it retakes photos of the one before; its own id without a retake.
    public let seriesID: UUID
    /// The end of the time in which a retake may use the good photos of a failed session (``SessionRepository/takePhotos(for:)``); `nil`
    /// where none are kept. A retake inherits it.
    public let photosKeptUntil: Date?
    /// The poses of the challenge that its upload answers, in the order of the photos that answer it; `nil` without one. In a sign-in all
    /// photos answer it, in a sign-up the photos with the pose `challenge`.
    public let challenge: [LivenessPose]?
    /// Whether the photos show a live person who followed the challenge; `notPerformed` before the decision.
    public let liveness: Liveness
    /// The request that created it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When the upload was accepted.
    public let createdAt: Date
    /// When a worker first began to process it.
    public let startedAt: Date?
    /// When it became terminal.
    public let completedAt: Date?
    /// When it expires if it is still undecided.
    public let deadlineAt: Date
    /// When the record is deleted.
    public let expiresAt: Date
    /// When its access token was minted.
    public let redeemedAt: Date?

    /// Whether it retakes photos of a failed session.
    public var isRetake: Bool { seriesID != id }
    /// Whether photos that strangers sent for its e-mail do not count against it: it comes from a known device, or proves the e-mail.
    public var isTrusted: Bool { isKnown || verificationID != nil }
    /// Whether its enrolment takes effect only with the verification of its e-mail, which has the session's id.
    public var awaitsVerification: Bool { event == .signUp && state == .succeeded && !authorised && verificationID == nil }

    /// The columns that `init(row:)` reads; those of JSON as text, because JSON is decoded from text.
    static let columns = """
        id, user_id, event, lane, is_known, awaits_turn, authorised, authorised_by, verification_id, is_recovery, email_lookups, \
        email_sealed, consent_version, consent_hash, attempt_key, other_attempt_keys, state, reason, \
        photo_problems::text AS photo_problems, retryable, attempts_left, locked_until, token_hash, install_id, installation_key, \
        device_key, address_key, site_key, photos::text AS photos, series_id, photos_kept_until, challenge, liveness, \
        request_id, traceparent, created_at, started_at, completed_at, deadline_at, expires_at, redeemed_at
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
        event = try row.decodeCase("event")
        lane = try row.decodeCase("lane")
        isKnown = try row.decode("is_known")
        awaitsTurn = try row.decode("awaits_turn")
        authorised = try row.decode("authorised")
        authorisedBy = try row.decode("authorised_by")
        verificationID = try row.decode("verification_id")
        isRecovery = try row.decode("is_recovery")
        email = try SealedEmail(row: row)
        attemptKey = try row.decode("attempt_key")
        otherAttemptKeys = try row.decode("other_attempt_keys")
        state = try row.decodeCase("state")
        reason = try row.decodeCaseIfPresent("reason")
        photoProblems = try row.decodeJSON("photo_problems")
        retryable = try row.decode("retryable")
        attemptsLeft = try row.decode("attempts_left", as: Int32?.self).map { Int($0) }
        lockedUntil = try row.decode("locked_until")
        tokenHash = try row.decode("token_hash")
        installID = try row.decode("install_id")
        installationKey = try row.decode("installation_key")
        deviceKey = try row.decode("device_key")
        origin = RequestOrigin(addressKey: try row.decode("address_key"), siteKey: try row.decode("site_key"))
        photos = try row.decodeJSON("photos")
        seriesID = try row.decode("series_id", as: UUID?.self) ?? id
        photosKeptUntil = try row.decode("photos_kept_until")
        challenge = try Self.challenge(row)
        liveness = try row.decodeCase("liveness")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
        createdAt = try row.decode("created_at")
        consent = try Self.consent(row, givenAt: createdAt)
        startedAt = try row.decode("started_at")
        completedAt = try row.decode("completed_at")
        deadlineAt = try row.decode("deadline_at")
        expiresAt = try row.decode("expires_at")
        redeemedAt = try row.decode("redeemed_at")
    }

    static func challenge(_ row: PostgresRow) throws(PostgresError) -> [LivenessPose]? {
        try row.decode("challenge", as: [String]?.self)?.map { text throws(PostgresError) in
            guard let pose = LivenessPose(rawValue: text) else {
                throw PostgresError(code: .decoding, message: "column challenge has an unexpected pose")
            }
            return pose
        }
    }

    private static func consent(_ row: PostgresRow, givenAt: Date) throws(PostgresError) -> Consent? {
        let version = try row.decode("consent_version", as: String?.self)
        let hash = try row.decode("consent_hash", as: [UInt8]?.self)
        guard let version, let hash else { return nil }
        return Consent(text: ConsentedText(version: version, hash: hash), givenAt: givenAt)
    }
}
