internal import Synchronization

/// Counts the uploads under way, so that memory and disk are shared by a known number of them.
final class UploadSlots: Sendable {
    private let limit: Int
    private let taken = Mutex(0)
    private let quota: AddressQuota

    /// Makes slots.
    ///
    /// - Parameter perAddress: how many of them one address may hold, however slowly it sends: the rest is for others.
    init(limit: Int, perAddress: Int) {
        self.limit = limit
        quota = AddressQuota(limit: perAddress)
    }

    /// Runs the body in a slot.
    ///
    /// - Throws: `overloaded` at once when all are taken, `rate_limited` when the client has its share; whoever waits in
    ///   line here would only hold a connection.
    func withSlot<Result>(for client: IPAddress, _ body: () async throws -> Result) async throws -> Result {
        guard quota.take(client) else { throw APIError.rateLimited("Too many uploads from this address", wait: .seconds(2)) }
        defer { quota.release(client) }
        let isFree = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        guard isFree else { throw APIError.overloaded("Too many uploads at the moment") }
        defer { taken.withLock { $0 -= 1 } }
        return try await body()
    }
}
