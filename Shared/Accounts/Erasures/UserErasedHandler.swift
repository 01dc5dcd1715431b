public import EventBus
internal import Logging
internal import Metrics
public import PostgresClient
public import WireFormat

/// Erases a service's records of a user, and reports it.
///
/// An eraser that cannot erase everything now is called again: identity-api publishes the event again until every service has reported.
public struct UserErasedHandler: EventHandler {
    private let service: String
    private let eraser: any UserEraser
    private let postgres: PostgresClient

    /// Makes the handler of a service.
    package init(service: String, eraser: any UserEraser, postgres: PostgresClient) {
        self.service = service
        self.eraser = eraser
        self.postgres = postgres
    }

    /// Calls the eraser and, once nothing is left, finishes the service's report in the transaction of the inbox mark.
    ///
    /// An erasure that is already completed is skipped.
    public func handle(_ event: Envelope<UserErased>, _ context: HandlerContext) async throws {
        guard let erasure = try await ErasureRepository(postgres).find(id: event.body.erasureID) else { return }
        let ledger = ErasureLedger(postgres: postgres, erasure: erasure, service: service)
        let isFinished = try await eraser.erase(erasure, ledger)
        guard isFinished else {
            context.logger.info("an erasure waits for work in progress", metadata: ["erasure": "\(erasure.id)"])
            return
        }
        _ = try await context.commit { try await ErasureRepository($0).finish(erasure.id, by: service) }
        context.logger.notice("erased a user's data", metadata: ["erasure": "\(erasure.id)", "scope": "\(erasure.scope.rawValue)"])
        Counter(label: "erasure_steps_total", dimensions: [("service", service)]).increment()
    }
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
