public import FoundationEssentials
internal import PostgresClient

/// Which request a key names: keys of different users, and of different routes, are different ones.
public struct IdempotencyScope: Sendable, Hashable {
    /// The account that sends it, or that the sender's e-mail has or would have.
    public let userID: UUID
    /// What it asks for, as method and path; at most 64 characters.
    public let route: String
    /// The key the client gave it; at most 128 characters.
    public let key: String

    /// Names a request.
    public init(userID: UUID, route: String, key: String) {
        self.userID = userID
        self.route = route
        self.key = key
    }
}

/// The right to work on a request, until it runs out.
public struct IdempotencyLease: Sendable, Equatable {
    /// The request.
    public let scope: IdempotencyScope
    /// This try of it.
    public let owner: UUID
}

/// How a request was answered.
public struct IdempotencyAnswer: Sendable, Equatable {
    /// SHA-256 of what it asked for; 32 bytes.
    public var fingerprint: [UInt8]
    /// What it made.
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

/// What there is to do about a request with a key.
public enum IdempotencyBeginning: Sendable, Equatable {
    /// Work on it: nobody has, or whoever did is gone.
    case began(IdempotencyLease)
    /// It was answered before. Whether it asks for the same is for the caller to see.
    case answered(IdempotencyAnswer)
    /// Another try of it is being worked on.
    case inProgress
}
