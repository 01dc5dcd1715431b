public import FoundationEssentials
public import WireFormat

/// A session to insert; it starts as `received`.
public struct NewSession: Sendable {
    /// The default time until a worker must decide: 10 minutes.
    public static let defaultProcessingTime: Duration = .seconds(10 * 60)
    /// The default lifetime of the record: 24 hours.
    public static let defaultLifetime: Duration = .seconds(24 * 60 * 60)

    /// The public id.
    public var id: UUID
    /// The account, or a decoy.
    public var userID: UUID
    /// Sign-up or sign-in.
    public var event: EkycEvent
    /// The lane in which it waits for a face engine.
    public var lane: EkycLane
    /// Whether the request has the account's bearer, or comes from an installation that is known to the account.
    public var isKnown = false
    /// Whether it waits for the end of others of its address or site: its `EkycRequested` is published with
    /// ``SessionRepository/nextTurn(after:)``.
    public var awaitsTurn: Bool
    /// The estimated time of face engines that it takes.
    public var estimatedCost: Duration
    /// Whether the request carries a bearer token of the account.
    public var authorised: Bool
    /// The sign-in of that bearer token, as in `AccessToken.familyID`; `nil` without one, or when another system issues the tokens.
    public var authorisedBy: UUID?
    /// The proof of the e-mail; `nil` without one.
    public var verificationID: UUID?
    /// Whether the face is to replace the face of the e-mail's account after a delay; only with a proof.
    public var isRecovery: Bool
    /// The e-mail of a sign-up without proof or access token; `nil` for all others.
    public var email: SealedEmail?
    /// The consent of the sender of a sign-up; `nil` when no consent is needed.
    public var consent: ConsentedText?
    /// The id by which sign-ins of an e-mail are counted, whether it has an account or not; `nil` for a sign-up.
    public var attemptKey: UUID?
    /// The same ids under other lookup keys.
    public var otherAttemptKeys: [UUID]
    /// SHA-256 of the session token; 32 bytes.
    public var tokenHash: [UInt8]
    /// The `PushInstall` with the upload's FCM token.
    public var installID: UUID?
    /// The device's `PushTarget` key; 32 bytes.
    public var installationKey: [UInt8]?
    /// The thumbprint of the key that the upload of a sign-in proves; `nil` without a proof.
    public var deviceKey: [UInt8]?
    /// Where the client is.
    public var origin: RequestOrigin
    /// The stored photos.
    public var photos: [SessionPhoto]
    /// The total size of the photos in bytes.
    public var photoBytes: Int
    /// The failed session whose photos it retakes; `nil` for a session with all its own photos.
    public var retaken: RetakenSession?
    /// The poses of the challenge that the upload answers, in the order of its photos; `nil` without one.
    public var challenge: [LivenessPose]?
    /// The request that creates it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// The time until a worker must decide, from now.
    public var processingTime: Duration
    /// The lifetime of the record, from now.
    public var lifetime: Duration

    /// Describes a session that has just been uploaded.
    public init(
        id: UUID = UUID(), userID: UUID, event: EkycEvent, lane: EkycLane = .new, awaitsTurn: Bool = false, estimatedCost: Duration = .zero,
        authorised: Bool = false, authorisedBy: UUID? = nil,
        verificationID: UUID? = nil, isRecovery: Bool = false, email: SealedEmail? = nil, consent: ConsentedText? = nil,
        attemptKey: UUID? = nil, otherAttemptKeys: [UUID] = [], tokenHash: [UInt8],
        deviceKey: [UInt8]? = nil, installID: UUID? = nil, installationKey: [UInt8]? = nil,
        origin: RequestOrigin = .unknown, photos: [SessionPhoto] = [], photoBytes: Int = 0,
        retaken: RetakenSession? = nil, challenge: [LivenessPose]? = nil, requestID: String? = nil, traceparent: String? = nil,
        processingTime: Duration = Self.defaultProcessingTime, lifetime: Duration = Self.defaultLifetime
    ) {
        self.id = id
        self.userID = userID
        self.event = event
        self.lane = lane
        self.awaitsTurn = awaitsTurn
        self.estimatedCost = estimatedCost
        self.authorised = authorised
        self.authorisedBy = authorisedBy
        self.verificationID = verificationID
        self.isRecovery = isRecovery
        self.email = email
        self.consent = consent
        self.attemptKey = attemptKey
        self.otherAttemptKeys = otherAttemptKeys
        self.tokenHash = tokenHash
        self.deviceKey = deviceKey
        self.installID = installID
        self.installationKey = installationKey
        self.origin = origin
        self.photos = photos
        self.photoBytes = photoBytes
        self.retaken = retaken
        self.challenge = challenge
        self.requestID = requestID
        self.traceparent = traceparent
        self.processingTime = processingTime
        self.lifetime = lifetime
    }
}
