public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// One photo of a session: where its sealed bytes are, and which pose it was sent as.
public struct SessionPhoto: Sendable, Equatable, Codable {
    /// The pose a photo was uploaded as; `any` for sign-in.
    public enum Pose: String, Sendable, Codable, CaseIterable {
        case left, right, front, any
    }

    /// The key in the blob store.
    public var key: String
    /// The pose it was sent as.
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

/// The e-mail of a sign-up that is not decided, as `users` has it.
public struct SessionEmail: Sendable, Equatable {
    /// HMAC-SHA256 of the normalised e-mail; 32 bytes.
    public let lookup: [UInt8]
    /// The e-mail, sealed with `SealingContext.email`.
    public let sealed: [UInt8]

    /// Describes an e-mail.
    public init(lookup: [UInt8], sealed: [UInt8]) {
        self.lookup = lookup
        self.sealed = sealed
    }

    fileprivate init?(row: PostgresRow) throws(PostgresError) {
        let lookup = try row.decode("email_lookup", as: [UInt8]?.self)
        let sealed = try row.decode("email_sealed", as: [UInt8]?.self)
        guard let lookup, let sealed else { return nil }
        self.init(lookup: lookup, sealed: sealed)
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
    /// Whether it was made with the account's bearer, and may replace an enrolled face.
    public let authorised: Bool
    /// The sign-in whose bearer it was made with, as in `AccessToken.familyID`; `nil` where another system keeps those.
    public let authorisedBy: UUID?
    /// The e-mail of an undecided sign-up without a bearer; `nil` for all others.
    public let email: SessionEmail?
    /// Where it is.
    public let state: SessionState
    /// Why it failed or expired; `nil` otherwise.
    public let reason: SessionReason?
    /// Whether another try makes sense; `nil` unless it failed or expired.
    public let retryable: Bool?
    /// How many more sign-ins could fail on the same budget of the account when this one had failed; `nil` unless it is a failed sign-in.
    public let attemptsLeft: Int?
    /// SHA-256 of the session token; 32 bytes.
    public let tokenHash: [UInt8]
    /// The device's FCM token, sealed with `SealingContext.sessionPushToken`; `nil` when absent or wiped.
    public let pushTokenSealed: [UInt8]?
    /// The device, as in `PushInstall.installationKey`.
    public let installationKey: [UInt8]?
    /// The stored photos; empty once they are deleted.
    public let photos: [SessionPhoto]
    /// The request that made it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When the upload was accepted.
    public let createdAt: Date
    /// When a worker first took it.
    public let startedAt: Date?
    /// When it became terminal.
    public let completedAt: Date?
    /// When it expires if nobody has decided by then.
    public let deadlineAt: Date
    /// When the record is deleted.
    public let expiresAt: Date
    /// When its access token was minted.
    public let redeemedAt: Date?

    /// What a query selects for `init(row:)`; `photos` as text, because JSON is decoded from text.
    static let columns = """
        id, user_id, event, authorised, authorised_by, email_lookup, email_sealed, state, reason, retryable, attempts_left, \
        token_hash, push_token_sealed, installation_key, photos::text AS photos, request_id, traceparent, created_at, \
        started_at, completed_at, deadline_at, expires_at, redeemed_at
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
        event = try row.decodeCase("event")
        authorised = try row.decode("authorised")
        authorisedBy = try row.decode("authorised_by")
        email = try SessionEmail(row: row)
        state = try row.decodeCase("state")
        reason = try row.decodeCaseIfPresent("reason")
        retryable = try row.decode("retryable")
        attemptsLeft = try row.decode("attempts_left", as: Int32?.self).map { Int($0) }
        tokenHash = try row.decode("token_hash")
        pushTokenSealed = try row.decode("push_token_sealed")
        installationKey = try row.decode("installation_key")
        photos = try row.decodeJSON("photos")
        requestID = try row.decode("request_id")
        traceparent = try row.decode("traceparent")
        createdAt = try row.decode("created_at")
        startedAt = try row.decode("started_at")
        completedAt = try row.decode("completed_at")
        deadlineAt = try row.decode("deadline_at")
        expiresAt = try row.decode("expires_at")
        redeemedAt = try row.decode("redeemed_at")
    }
}
