internal import EventBus
internal import Pictures
internal import PostgresClient
internal import ServiceDefaults

/// Requests the pictures of jobs that wait for their turn although their account has free places in the streams.
struct JobTurns: Sendable {
    let postgres: PostgresClient
    /// The places of an account; 0 is no limit.
    let places: Int

    /// Requests at most `limit` jobs.
    ///
    /// - Returns: Their number.
    func fill(limit: Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let due = try await ImageJobRepository(transaction).fillTurns(places: places == 0 ? limit : places, limit: limit)
            for job in due { try await OutboxRepository(transaction).request(job) }
            return due.count
        }
    }
}
