internal import PostgresClient
internal import WireFormat

extension OutboxRepository {
    /// Makes a relay publish messages to one group again, as if they were new: `→ waiting`. Call in the transaction that deletes their
    /// dead letters.
    ///
    /// If all groups have settled the row, or it is deleted, the message is published to this group only, because the marks of the other
    /// groups in the inbox may have expired. If other groups still need the row, it is published to all groups, and the inbox skips the
    /// duplicates.
    ///
    /// - Parameter messages: Each message once, with the group that gets it again and the body from the dead letter, because texts are
    ///   removed from a confirmed row.
    func redrive(_ messages: [NewOutboxMessage]) async throws(PostgresError) {
        for message in messages {
            let envelope = message.envelope
            try await db.enqueue(
                """
                INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body,
                                    consumer_groups, is_redriven)
                VALUES (\(message.stream), \(envelope.id), \(envelope.key), \(envelope.type.rawValue), \(Int32(envelope.version)),
                        \(envelope.occurredAt), \(envelope.traceparent), \(envelope.requestID), \(envelope.expiresAt), \(envelope.body),
                        \(message.groups), true)
                ON CONFLICT (message_id) DO UPDATE SET
                    state = 'waiting', settled_at = NULL, due_at = NULL, refusals = 0, publications = 0, body = EXCLUDED.body,
                    is_redriven = outbox.is_redriven OR outbox.settled_at IS NOT NULL,
                    consumer_groups = CASE
                        WHEN outbox.settled_at IS NOT NULL THEN EXCLUDED.consumer_groups
                        ELSE ARRAY(SELECT unnest(outbox.consumer_groups) UNION SELECT unnest(EXCLUDED.consumer_groups) ORDER BY 1) END
                """)
        }
        if !messages.isEmpty { try await db.execute("SELECT pg_notify(\(Self.channel), '')") }
    }
}
