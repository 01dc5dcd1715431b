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
    }

    /// The id, known to the one who asked; of an enrolment the id of its session.
    public let id: UUID
    /// The reason.
    public let purpose: Purpose
    /// The account whose e-mail changes; otherwise the id that the account of the e-mail gets, if there is none.
    public let accountID: UUID
    /// The sign-in that asked for a change, as in `AccessToken.familyID`.
    public let signInID: UUID?
    /// The address.
    public let email: SealedEmail
    /// The e-mail that a change has replaced; `nil` for others, and before it takes effect.
    public let formerEmail: SealedEmail?
    /// The number of the code, from 1; each mail has a code of its own.
    public let codeNumber: Int
    /// The attempts to enter the code that are left.
    public let attemptsLeft: Int
    /// When the code expires.
    public let codeExpiresAt: Date
    /// The time of the proof; `nil` before.
    public let verifiedAt: Date?
    /// When it was asked for.
    public let createdAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        purpose = try row.decodeCase("purpose")
        accountID = try row.decode("account_id")
        signInID = try row.decode("sign_in_id")
        email = SealedEmail(lookups: try row.decode("email_lookups"), sealed: try row.decode("email_sealed"))
        formerEmail = try SealedEmail(row: row, prefix: "former_")
        codeNumber = Int(try row.decode("code_number", as: Int32.self))
        attemptsLeft = Int(try row.decode("attempts_left", as: Int32.self))
        codeExpiresAt = try row.decode("code_expires_at")
        verifiedAt = try row.decode("verified_at")
        createdAt = try row.decode("created_at")
    }
}

/// Until when the code of a verification can be entered, and when the next mail can be sent.
public struct CodeTimes: Sendable, Equatable {
    /// The time for which the code of the last mail can be entered; zero when no mail was sent, or no attempt is left.
    public let codeLeft: Duration
    /// The time until another mail can be asked for: with this verification, or, if it has had its last code, with another one.
    public let nextMail: Duration
    /// Whether the verification has had ``EmailVerificationRepository/maxCodes``.
    public let isLastCode: Bool

    init(row: PostgresRow) throws(PostgresError) {
        codeLeft = .seconds(max(0, try row.decode("left", as: Double.self)))
        nextMail = .seconds(max(0, try row.decode("wait", as: Double.self)))
        isLastCode = try row.decode("code_number", as: Int32.self) >= EmailVerificationRepository.maxCodes
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
    /// HMAC of the address of the client that asks.
    public var addressKey: [UInt8]?

    /// Describes a verification.
    public init(
        id: UUID = UUID(), purpose: EmailVerification.Purpose, accountID: UUID = UUID(), signInID: UUID? = nil, email: SealedEmail,
        displayNameSealed: [UInt8]? = nil, addressKey: [UInt8]? = nil
    ) {
        self.id = id
        self.purpose = purpose
        self.accountID = accountID
        self.signInID = signInID
        self.email = email
        self.displayNameSealed = displayNameSealed
        self.addressKey = addressKey
    }
}
