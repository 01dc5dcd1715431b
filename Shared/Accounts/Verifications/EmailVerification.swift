public import FoundationEssentials
internal import PostgresClient

/// A proof of an e-mail address by a mailed code: a row of `email_verifications`.
public struct EmailVerification: Sendable, Equatable {
    /// The reason for which an address is proven.
    public enum Purpose: String, Sendable, CaseIterable {
        /// For an enrolment token, which lets its bearer sign up with the address.
        case registration
        /// For the face of a sign-up that gave the address without a proof.
        case enrolment
        /// For another address of an account.
        case emailChange = "email_change"
        /// For the tokens of a sign-in on a device that is new to the account.
        case signIn = "sign_in"
    }

    /// The id, known to the client that asked; for an enrolment or a sign-in, the id of its session.
    public let id: UUID
    /// The reason.
    public let purpose: Purpose
    /// The account whose e-mail changes, or that is signed in to; otherwise the id for the account of the e-mail, if it has no account yet.
    public let accountID: UUID
    /// The sign-in that asked for a change, as in `AccessToken.familyID`.
    public let signInID: UUID?
    /// The address.
    public let email: SealedEmail
    /// The e-mail that a change has replaced; `nil` for others, and before it takes effect.
    public let formerEmail: SealedEmail?
    /// The reference that the app shows, and that stands beside the code in the mail.
    public let reference: String
    /// Whether the client has proven something in the last 24 hours: by a bearer, or by a code or a redeemed sign-in of this e-mail from
    /// the same address. Such a request has a place in the next mail, however many others ask.
    public let isProven: Bool
    /// The number of the code that was mailed last; 0 before the first mail.
    public let codeNumber: Int
    /// The attempts to enter the code that are left.
    public let attemptsLeft: Int
    /// When the code expires; `nil` before the first mail.
    public let codeExpiresAt: Date?
    /// The time of the proof; `nil` before.
    public let verifiedAt: Date?
    /// When another device of the account has denied the sign-in that it is for; `nil` before, and for others.
    public let deniedAt: Date?
    /// When it was asked for.
    public let createdAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        purpose = try row.decodeCase("purpose")
        accountID = try row.decode("account_id")
        signInID = try row.decode("sign_in_id")
        email = SealedEmail(lookups: try row.decode("email_lookups"), sealed: try row.decode("email_sealed"))
        formerEmail = try SealedEmail(row: row, prefix: "former_")
        reference = try row.decode("reference")
        isProven = try row.decode("is_proven")
        codeNumber = Int(try row.decode("code_number", as: Int32.self))
        attemptsLeft = Int(try row.decode("attempts_left", as: Int32.self))
        codeExpiresAt = try row.decode("code_expires_at")
        verifiedAt = try row.decode("verified_at")
        deniedAt = try row.decode("denied_at")
        createdAt = try row.decode("created_at")
    }
}

/// A verification to insert.
public struct NewEmailVerification: Sendable {
    /// See ``EmailVerification/id``.
    public var id: UUID
    /// See ``EmailVerification/purpose``.
    public var purpose: EmailVerification.Purpose
    /// See ``EmailVerification/accountID``.
    public var accountID: UUID
    /// See ``EmailVerification/signInID``.
    public var signInID: UUID?
    /// The address.
    public var email: SealedEmail
    /// The name of the account to be created, sealed with `SealingContext.displayName` of `accountID`.
    public var displayNameSealed: [UInt8]?
    /// The site of the client.
    public var origin: RequestOrigin
    /// The request that asks.
    public var requestID: String?
    /// The trace of that request.
    public var traceparent: String?

    /// Describes a verification.
    public init(
        id: UUID = UUID(), purpose: EmailVerification.Purpose, accountID: UUID = UUID(), signInID: UUID? = nil, email: SealedEmail,
        displayNameSealed: [UInt8]? = nil, origin: RequestOrigin = .unknown, requestID: String? = nil, traceparent: String? = nil
    ) {
        self.id = id
        self.purpose = purpose
        self.accountID = accountID
        self.signInID = signInID
        self.email = email
        self.displayNameSealed = displayNameSealed
        self.origin = origin
        self.requestID = requestID
        self.traceparent = traceparent
    }
}
