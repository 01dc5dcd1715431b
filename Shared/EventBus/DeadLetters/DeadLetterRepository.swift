public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `dead_letters`: the messages that groups have given up.
///
/// Giving up is final for its group, as handling is, so both leave the same mark in the inbox: a message is handled or a dead letter,
/// whichever transaction marks it first, and copies of it in the stream have no effect. Redriving removes the mark.
public struct DeadLetterRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction; ``add(_:of:by:)`` and ``redrive(_:of:)`` belong into a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores dead letters of a group and marks their messages in its inbox. Messages that the group has already handled or given up are
    /// skipped, so the call may be repeated.
    ///
    /// - Parameter consumer: The name of the consumer that gives them up.
    /// - Returns: The number of dead letters that are new.
    public func add(_ letters: [NewDeadLetter], of group: StreamGroup, by consumer: String) async throws(PostgresError) -> Int {
        let marked = try await InboxRepository(db).markHandled(group: group.name, ids: letters.compactMap(\.messageID))
        var count = 0
        for letter in letters where letter.messageID.map(marked.contains) ?? true {
            let fields = letter.fields.flatMap { [Array($0.name.utf8), $0.value] }
            count += try await db.execute(
                """
                INSERT INTO dead_letters (stream, consumer_group, id, entry_id, reason, error, failures, crashes, consumer, fields)
                VALUES (\(group.stream), \(group.name), \(letter.id), \(letter.entryID.description), \(letter.reason.rawValue),
                        \(letter.error), \(Int32(clamping: letter.failures)), \(Int32(clamping: letter.crashes)), \(consumer), \(fields))
                ON CONFLICT DO NOTHING
                """)
        }
        return count
    }

    /// Returns at most `limit` dead letters of a group, the oldest first.
    ///
    /// - Parameter last: The last dead letter of the previous page; nil to begin.
    public func page(of group: StreamGroup, after last: DeadLetter? = nil, limit: Int) async throws(PostgresError) -> [DeadLetter] {
        let query: PostgresQuery = """
            SELECT * FROM dead_letters
            WHERE stream = \(group.stream) AND consumer_group = \(group.name)
              AND (dead_lettered_at, id) > (\(last?.deadLetteredAt ?? .distantPast), \(last?.id ?? Self.leastID))
            ORDER BY dead_lettered_at, id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(DeadLetter.init(row:))
    }

    private static let leastID = EntryID.zero.asUUID

    /// Returns the dead letters of a stream with an id; several groups may have given up the same message.
    public func find(_ id: UUID, in stream: String) async throws(PostgresError) -> [DeadLetter] {
        let query: PostgresQuery = "SELECT * FROM dead_letters WHERE stream = \(stream) AND id = \(id) ORDER BY consumer_group"
        return try await db.query(query.readOnly()).map(DeadLetter.init(row:))
    }

    /// Deletes dead letters for good: the mark stays, so that their messages are never handled.
    ///
    /// - Returns: The number of deleted dead letters.
    public func drop(_ ids: [UUID], of group: StreamGroup) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            "DELETE FROM dead_letters WHERE stream = \(group.stream) AND consumer_group = \(group.name) AND id = ANY(\(ids))")
    }
}

extension DeadLetter {
    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        group = StreamGroup(stream: try row.decode("stream"), name: try row.decode("consumer_group"))
        entryID = try row.decode("entry_id")
        reason = try row.decodeCase("reason")
        error = try row.decode("error")
        failures = Int(try row.decode("failures", as: Int32.self))
        crashes = Int(try row.decode("crashes", as: Int32.self))
        consumer = try row.decode("consumer")
        deadLetteredAt = try row.decode("dead_lettered_at")
        let parts: [[UInt8]] = try row.decode("fields")
        fields = stride(from: 0, to: parts.count - 1, by: 2).map { (String(decoding: parts[$0], as: UTF8.self), parts[$0 + 1]) }
    }
}
