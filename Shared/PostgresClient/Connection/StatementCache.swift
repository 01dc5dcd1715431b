/// A statement prepared on one connection.
final class PreparedStatement {
    /// The text and parameter types: the same text with other types is another statement.
    struct Key: Hashable {
        let sql: String
        let types: [UInt32]
    }

    let key: Key
    let name: String
    fileprivate var lastUse: UInt64

    fileprivate init(key: Key, name: String, lastUse: UInt64) {
        self.key = key
        self.name = name
        self.lastUse = lastUse
    }

    /// Creates a statement without a name, which the next one replaces; it does not belong to a cache.
    static func unnamed(_ key: Key) -> PreparedStatement { PreparedStatement(key: key, name: "", lastUse: 0) }
}

/// The prepared statements of one connection; evicts the least recently used one when it is full.
struct StatementCache {
    private let capacity: Int
    private var statements: [PreparedStatement.Key: PreparedStatement] = [:]
    private var uses: UInt64 = 0
    private var created: UInt64 = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { statements.count }

    /// Returns the statement, if it is prepared or about to be.
    mutating func find(_ key: PreparedStatement.Key) -> PreparedStatement? {
        guard let statement = statements[key] else { return nil }
        uses += 1
        statement.lastUse = uses
        return statement
    }

    /// Adds a statement.
    ///
    /// - Returns: the statement, and the statement that it evicts.
    mutating func insert(_ key: PreparedStatement.Key) -> (added: PreparedStatement, evicted: PreparedStatement?) {
        var evicted: PreparedStatement?
        // A scan of all is cheap compared with the preparation that follows it.
        if statements.count >= capacity, let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) {
            statements[oldest.key] = nil
            evicted = oldest
        }
        uses += 1
        created += 1
        let statement = PreparedStatement(key: key, name: "h\(created)", lastUse: uses)
        statements[key] = statement
        return (statement, evicted)
    }

    /// Removes a statement; a statement that was prepared later under the same key stays.
    mutating func remove(_ statement: PreparedStatement) {
        guard statements[statement.key] === statement else { return }
        statements[statement.key] = nil
    }
}
