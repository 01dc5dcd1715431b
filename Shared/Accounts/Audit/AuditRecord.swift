public import FoundationEssentials
internal import PostgresClient

/// A row of the audit log.
public struct AuditRecord: Sendable, Equatable {
    /// Grows with each row.
    public let id: Int64
    /// The beginning of the transaction that did it.
    public let at: Date
    /// `user`, `service`, `operator`, `system` or `anonymous`.
    public let actorKind: String
    /// The actor's id or name; `nil` for an anonymous one.
    public let actorID: String?
    /// As in ``AuditAction``.
    public let action: String
    /// As in ``AuditResult``.
    public let result: String
    /// The account that it happened to.
    public let subjectID: UUID?
    /// The thing that the action is about.
    public let objectID: UUID?
    /// The request that asked for it.
    public let requestID: String?
    /// A fixed word, such as the reason for a failure.
    public let detail: String?
    /// HMAC of the client's address.
    public let addressKey: [UInt8]?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        at = try row.decode("at")
        actorKind = try row.decode("actor_kind")
        actorID = try row.decode("actor_id")
        action = try row.decode("action")
        result = try row.decode("result")
        subjectID = try row.decode("subject_id")
        objectID = try row.decode("object_id")
        requestID = try row.decode("request_id")
        detail = try row.decode("detail")
        addressKey = try row.decode("address_key")
    }
}
