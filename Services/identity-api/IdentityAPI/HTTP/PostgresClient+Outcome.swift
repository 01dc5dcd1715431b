internal import PostgresClient

/// The database neither confirmed nor denied what a request wrote: it may exist, and so what belongs to it must stay.
struct OutcomeUnknown: Error {
    let underlying: any Error
}

extension PostgresClient {
    /// Writes in one transaction what a request has stored objects for, and returns only when it is certainly written.
    ///
    /// - Parameter isWritten: Looks for what the body wrote. A commit whose answer was lost may have happened.
    /// - Throws: What the body throws, or the database's error, when nothing is written; ``OutcomeUnknown`` when that cannot
    ///   be told: the database cannot be asked now, or may still be at the commit.
    func write(
        confirming isWritten: () async throws -> Bool, _ body: (PostgresTransaction) async throws -> Void
    ) async throws {
        var isComplete = false
        do {
            try await withTransaction { transaction in
                try await body(transaction)
                isComplete = true
            }
        } catch let error as PostgresError where isComplete {
            let isThere: Bool
            do { isThere = try await isWritten() } catch { throw OutcomeUnknown(underlying: error) }
            if isThere { return }
            // The server may still be at it, and the row appear later: what belongs to it has to be there then.
            if [.timeout, .connectionLost].contains(error.code) { throw OutcomeUnknown(underlying: error) }
            throw error
        }
    }
}
