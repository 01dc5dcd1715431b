public import FoundationEssentials
public import Logging
public import PostgresClient
import Synchronization
import WireFormat

/// The context of one handler call: how to commit, and a logger that names the message.
public struct HandlerContext: Sendable {
    /// The message's id.
    public let messageID: UUID
    /// The number of deliveries of the message, this one included; more than 1 after a failure or a crash.
    public let deliveryCount: Int
    /// The number of consumers that died, or were taken for dead, while they held the message. A handler whose work may crash the
    /// process should fail the work itself before ``RetryPolicy/maxCrashes``: the bus then dead-letters the message without calling
    /// any handler.
    public let crashes: Int
    /// A logger that names the stream and the entry; every logger of a handler names the message, the request and the trace. Made
    /// on each access, because few messages need one.
    public var logger: Logger { scope.logger(for: entryID, deliveryCount) }

    private let entryID: EntryID
    private let scope: ConsumerScope
    private let postgres: PostgresClient
    private let record = Record()

    private final class Record: Sendable {
        let wasDuplicate = Atomic(false)
        let isMarked = Atomic(false)
    }

    init(_ event: Envelope<some Event>, _ entry: DeliveredEntry, in scope: ConsumerScope, postgres: PostgresClient) {
        messageID = event.id
        entryID = entry.id
        deliveryCount = entry.failures + entry.deliveryCount
        crashes = entry.crashes
        self.scope = scope
        self.postgres = postgres
    }

    /// Marks the message as handled and runs `body`, in one transaction, which is rolled back when `body` throws.
    ///
    /// - Returns: The value of `body`; nil, without running it, when the message was handled before.
    public func commit<Value: Sendable>(
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value? {
        let value = try await postgres.withTransaction { transaction -> Value? in
            let fresh = try await InboxRepository(transaction).markHandled(group: scope.group, ids: [messageID])
            guard !fresh.isEmpty else {
                record.wasDuplicate.store(true, ordering: .relaxed)
                return nil
            }
            return try await body(transaction)
        }
        record.isMarked.store(true, ordering: .relaxed)
        return value
    }

    /// Marks the message as handled if no ``commit(_:)`` has marked it: its handler had nothing to do.
    func markIfNeeded() async throws {
        guard !record.isMarked.load(ordering: .relaxed) else { return }
        let fresh = try await InboxRepository(postgres).markHandled(group: scope.group, ids: [messageID])
        if fresh.isEmpty { record.wasDuplicate.store(true, ordering: .relaxed) }
    }

    /// Returns whether the message was handled before, so that a handler can skip long work. Only ``commit(_:)`` is certain:
    /// another consumer may be handling the message now.
    public func isHandled() async throws -> Bool {
        try await !InboxRepository(postgres).handled(group: scope.group, ids: [messageID]).isEmpty
    }

    /// Whether the message was found to be handled before, when it was marked.
    var wasDuplicate: Bool { record.wasDuplicate.load(ordering: .relaxed) }
}
