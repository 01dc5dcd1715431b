public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// The result of redriving dead letters.
public struct Redriven: Sendable, Equatable {
    /// The dead letters that are published to their group again.
    public internal(set) var ids: [UUID] = []
    /// The dead letters that are not messages. The outbox cannot publish them, so they are not changed.
    public internal(set) var unreadable: [UUID] = []
}

extension DeadLetterRepository {
    /// Publishes dead letters to their group again, and to no other, with full budgets. Each is redriven once, even when several callers
    /// do it at the same time: the transaction that deletes it appends its message to the outbox, from which a relay publishes it, once
    /// Redis is there.
    public func redrive(_ ids: [UUID], of group: StreamGroup) async throws(PostgresError) -> Redriven {
        guard !ids.isEmpty else { return Redriven() }
        // In one order, so that two operators wait for each other rather than deadlock.
        let letters = try await db.query(
            """
            SELECT * FROM dead_letters
            WHERE stream = \(group.stream) AND consumer_group = \(group.name) AND id = ANY(\(ids)) ORDER BY id FOR UPDATE
            """
        ).map(DeadLetter.init(row:))
        var redriven = Redriven()
        var messages: [NewOutboxMessage] = []
        for letter in letters {
            if let envelope = letter.envelope {
                redriven.ids.append(letter.id)
                messages.append(NewOutboxMessage(envelope, stream: group.stream, groups: [group.name]))
            } else {
                redriven.unreadable.append(letter.id)
            }
        }
        _ = try await drop(redriven.ids, of: group)
        try await InboxRepository(db).unmark(group: group.name, ids: redriven.ids)
        try await OutboxRepository(db).redrive(messages)
        return redriven
    }
}
