public import FoundationEssentials
internal import PostgresClient

/// The scope of an erasure.
public enum ErasureScope: String, Sendable, CaseIterable {
    /// Everything that is kept of a user.
    case account
    /// The face and everything made from photos of it; the account stays.
    case face
}

/// An erasure that is under way: a row of `erasures` without a time of completion.
public struct Erasure: Sendable, Equatable {
    /// The time limit of a statement of an erasure; some of them read whole tables.
    public static let statementTimeout: Duration = .seconds(30)

    /// The id of the erasure, which `user.erased` names.
    public let id: UUID
    /// Whether the whole account is erased, or the face alone.
    public let scope: ErasureScope
    /// The account that is erased; the row names it until the erasure is completed.
    public let userID: UUID
    /// The keys of sign-ins with the account's e-mail, ``AttemptKey/derive(from:)`` of its lookups; empty for an account without an e-mail.
    public let attemptKeys: [UUID]
    /// When the erasure was requested.
    public let requestedAt: Date
    /// SHA-256 of the account's id; 32 bytes.
    public let subjectHash: [UInt8]

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        scope = try row.decodeCase("scope")
        userID = try row.decode("user_id")
        attemptKeys = try row.decode("attempt_keys")
        requestedAt = try row.decode("requested_at")
        subjectHash = try row.decode("subject_hash")
    }
}

/// An erasure to begin.
public struct NewErasure: Sendable {
    /// The side that asks for it: the column `requested_by`.
    public enum Requester: String, Sendable { case user, service, `operator` }

    /// The id of the erasure, chosen by the caller.
    public let id: UUID
    /// Whether to erase the whole account, or the face alone.
    public let scope: ErasureScope
    /// The account to erase; `users.id`.
    public let userID: UUID
    /// SHA-256 of the token that reads the receipt.
    public let tokenHash: [UInt8]
    /// The side that asks for the erasure.
    public let requestedBy: Requester

    /// Creates an erasure to begin; `tokenHash` is SHA-256 of the token that the receipt will be read with, 32 bytes.
    public init(id: UUID, scope: ErasureScope, userID: UUID, tokenHash: [UInt8], requestedBy: Requester) {
        self.id = id
        self.scope = scope
        self.userID = userID
        self.tokenHash = tokenHash
        self.requestedBy = requestedBy
    }
}

/// The report of a service on an erasure: a row of `erasure_reports`.
public struct ErasureReport: Sendable, Equatable {
    /// The service that reports, such as `image-worker`.
    public let service: String
    /// The numbers of rows by table, and of objects by folder of the blob store.
    public let counts: [String: Int]
    /// When the service had erased everything; `nil` before.
    public let finishedAt: Date?
}

/// The state of an erasure, as its receipt's reader sees it.
public struct ErasureStatus: Sendable, Equatable {
    /// The erasure whose state this is; `erasures.id`.
    public let id: UUID
    /// Whether the whole account is erased, or the face alone.
    public let scope: ErasureScope
    /// When the erasure was requested.
    public let requestedAt: Date
    /// When every service had reported and the erasure was completed; nil while it is under way.
    public let completedAt: Date?
    /// The signed receipt, once it is completed.
    public let receipt: String?
    /// The reports so far, by the name of their service. A service that has not begun has no report.
    public let reports: [ErasureReport]
}

/// The person whose erasures are looked for: the identifier that an operator knows.
public enum ErasedPerson: Sendable, Equatable {
    /// The id of the account. A completed erasure has kept its hash.
    case account(UUID)
    /// The keys of sign-ins with the e-mail, which an erasure has until it is completed.
    case email(attemptKeys: [UUID])

    var userID: UUID? {
        guard case .account(let id) = self else { return nil }
        return id
    }

    var attemptKeys: [UUID] {
        guard case .email(let keys) = self else { return [] }
        return keys
    }
}
