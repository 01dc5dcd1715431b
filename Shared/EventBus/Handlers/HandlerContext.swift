public import FoundationEssentials
public import Logging
public import PostgresClient
import Storage
import Synchronization

/// What a handler needs besides the event: the way to commit, and a logger that names the message.
public struct HandlerContext: Sendable {
    /// The message's id.
    public let messageID: UUID
    /// How often the message was delivered, this time included; more than 1 after a failure or a crash.
    public let deliveryCount: Int
    /// Names the stream, the message and the request.
    public let logger: Logger

    private let group: String
    private let postgres: PostgresClient
    private let record = Record()

    private final class Record: Sendable {
        let wasDuplicate = Atomic(false)
    }

    init(messageID: UUID, deliveryCount: Int, logger: Logger, group: String, postgres: PostgresClient) {
        self.messageID = messageID
        self.deliveryCount = deliveryCount
        self.logger = logger
        self.group = group
        self.postgres = postgres
    }

    /// Marks the message as handled and runs `body`, in one transaction; nothing of either happens when it throws.
    ///
    /// - Returns: What `body` returns; nil, without running it, when the message was handled before.
    public func commit<Value: Sendable>(
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value? {
        try await postgres.withTransaction { transaction -> Value? in
            let fresh = try await InboxRepository(transaction).markHandled(group: group, ids: [messageID])
            guard !fresh.isEmpty else {
                record.wasDuplicate.store(true, ordering: .relaxed)
                return nil
            }
            return try await body(transaction)
        }
    }

    /// Whether the message was handled before, to spare long work. Only ``commit(_:)`` is sure: somebody may be at it.
    public func isHandled() async throws -> Bool {
        try await !InboxRepository(postgres).handled(group: group, ids: [messageID]).isEmpty
    }

    /// Whether ``commit(_:)`` found that the message was handled before.
    var wasDuplicate: Bool { record.wasDuplicate.load(ordering: .relaxed) }
}
