import PostgresClient

/// Where a consumer keeps the dead letters of its group.
///
/// Errors are ``EventBusError/Code/refused`` when the dead letter itself is the cause, and otherwise
/// ``EventBusError/Code/unavailable``.
protocol DeadLetterStore: Sendable {
    /// Stores dead letters, each once, however often it is called; see ``DeadLetterRepository/add(_:of:by:)``.
    func add(_ letters: [NewDeadLetter], of group: StreamGroup, by consumer: String) async throws(EventBusError) -> Int

    /// Deletes the dead letters that are older than `age`, and returns their number.
    func deleteOlder(than age: Duration, of group: StreamGroup) async throws(EventBusError) -> Int

    /// Returns the number and the age of the remaining dead letters.
    func backlog(of group: StreamGroup) async throws(EventBusError) -> DeadLetterBacklog
}

/// The dead letters in the database of a service.
struct PostgresDeadLetters: DeadLetterStore {
    /// The most dead letters that one statement deletes.
    private static let batchSize = 500
    /// The most statements of one call.
    private static let maxBatches = 20

    let postgres: PostgresClient

    func add(_ letters: [NewDeadLetter], of group: StreamGroup, by consumer: String) async throws(EventBusError) -> Int {
        guard !letters.isEmpty else { return 0 }
        return try await attempt("storing dead letters") {
            try await postgres.withTransaction { try await DeadLetterRepository($0).add(letters, of: group, by: consumer) }
        }
    }

    func deleteOlder(than age: Duration, of group: StreamGroup) async throws(EventBusError) -> Int {
        try await attempt("deleting old dead letters") {
            var total = 0
            for _ in 0..<Self.maxBatches {
                let deleted = try await DeadLetterRepository(postgres).deleteOlder(than: age, of: group, limit: Self.batchSize)
                total += deleted
                if deleted < Self.batchSize { break }
            }
            return total
        }
    }

    func backlog(of group: StreamGroup) async throws(EventBusError) -> DeadLetterBacklog {
        try await attempt("counting dead letters") {
            try await DeadLetterRepository(postgres).backlogs(of: [group])[group] ?? DeadLetterBacklog()
        }
    }

    private func attempt<Value: Sendable>(
        _ doing: String, _ body: () async throws -> Value
    ) async throws(EventBusError) -> Value {
        do {
            return try await body()
        } catch {
            // A statement timeout is not a fault of the dead letter: the statement only writes it.
            let answer = error as? PostgresError
            let isRefused = answer?.fault == .message && answer?.code != .timeout && answer?.sqlState != "57014"
            throw EventBusError(isRefused ? .refused : .unavailable, doing, underlying: error)
        }
    }
}
