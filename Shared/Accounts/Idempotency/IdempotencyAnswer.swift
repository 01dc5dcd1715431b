public import FoundationEssentials
internal import PostgresClient

/// The identity of a request: its idempotency key, which is unique per user and route.
public struct IdempotencyScope: Sendable, Hashable {
    /// The account that sends the request, or the account id that belongs to the sender's e-mail, existing or not.
    public let userID: UUID
    /// The same ids under other lookup keys, under which the request may have begun.
    public let otherUserIDs: [UUID]
    /// The method and path; at most 64 characters.
    public let route: String
    /// The key the client gave it; at most 128 characters.
    public let key: String

    /// Names a request.
    public init(userID: UUID, otherUserIDs: [UUID] = [], route: String, key: String) {
        self.userID = userID
        self.otherUserIDs = otherUserIDs
        self.route = route
        self.key = key
    }
}

/// A lease on processing a request.
public struct IdempotencyLease: Sendable, Equatable {
    /// The request.
    public let scope: IdempotencyScope
    /// The id of this attempt.
    public let owner: UUID
}

/// The stored response of a request.
public struct IdempotencyAnswer: Sendable, Equatable {
    /// SHA-256 of the request's contents; 32 bytes.
    public var fingerprint: [UInt8]
    /// The id of the resource that the request created.
    public var resourceID: UUID
    /// The status, 200 to 599.
    public var status: Int
    /// The body; at most 8,192 characters.
    public var body: String

    /// Describes an answer.
    public init(fingerprint: [UInt8], resourceID: UUID, status: Int, body: String) {
        self.fingerprint = fingerprint
        self.resourceID = resourceID
        self.status = status
        self.body = body
    }

    init(row: PostgresRow) throws(PostgresError) {
        fingerprint = try row.decode("fingerprint")
        resourceID = try row.decode("resource_id")
        status = try row.decode("answer_status")
        body = try row.decode("answer")
    }
}

/// The result of beginning a request with an idempotency key.
public enum IdempotencyBeginResult: Sendable, Equatable {
    /// The caller holds the lease and processes the request: it is new, or the lease of an earlier attempt has ended.
    case began(IdempotencyLease)
    /// The request was answered before. The caller compares the fingerprints.
    case answered(IdempotencyAnswer)
    /// Another attempt holds the lease.
    case inProgress
}
