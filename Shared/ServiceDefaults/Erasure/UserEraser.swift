public import PostgresClient
public import Storage

/// Erases a service's records of a user.
public protocol UserEraser: Sendable {
    /// Erases everything that can be erased now, objects of the blob store before the rows that name them, in slices.
    ///
    /// It is called again after a failure or a crash, and when it could not erase everything. So each call starts from the beginning.
    ///
    /// - Returns: Whether nothing is left. Work under a lease is left to its holder.
    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool
}

/// Counts what a service erases, in the transactions that erase it.
public struct ErasureLedger: Sendable {
    /// The client for reads.
    public let postgres: PostgresClient
    private let erasure: Erasure
    private let service: String

    /// Makes the ledger of a service; for tests of erasers.
    package init(postgres: PostgresClient, erasure: Erasure, service: String) {
        self.postgres = postgres
        self.erasure = erasure
        self.service = service
    }

    /// Runs a step in a transaction, and adds the number that it returns to the receipt. It counts deleted records only, never records that
    /// stay.
    ///
    /// - Parameter what: A table, or a folder of the blob store.
    @discardableResult
    public func step(_ what: String, _ body: (PostgresTransaction) async throws -> Int) async throws -> Int {
        try await postgres.withTransaction { transaction in
            let count = try await body(transaction)
            try await ErasureRepository(transaction).add(count, of: what, to: erasure.id, by: service)
            return count
        }
    }
}
