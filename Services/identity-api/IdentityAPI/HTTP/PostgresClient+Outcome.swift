internal import PostgresClient

/// The database neither confirmed nor denied a commit: the row may exist, so the stored objects that belong to it must stay.
struct OutcomeUnknown: Error {
    let underlying: any Error
}

extension PostgresClient {
    /// Writes the rows of a request that has stored objects for them, in one transaction, and returns only when they are certainly
    /// written.
    ///
    /// - Parameter isWritten: Looks up the rows that the body wrote, because a commit whose response was lost may have happened.
    /// - Throws: The error of the body or of the database when nothing is written; ``OutcomeUnknown`` when the outcome cannot be
    ///   determined: the database cannot be queried now, or may still be committing.
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
            // The server may still commit, and the row appear later: the objects that belong to it must exist then.
            if [.timeout, .connectionLost].contains(error.code) { throw OutcomeUnknown(underlying: error) }
            throw error
        }
    }
}
