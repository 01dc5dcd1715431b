internal import Synchronization

/// Counts the transfers of pictures under way, so that memory and disk are shared by a known number of them.
final class UploadSlots: Sendable {
    /// The slot of one transfer; it is released with its last reference.
    final class Slot: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    private let limit: Int
    private let taken = Mutex(0)
    private let quota: AddressQuota

    /// Makes slots.
    ///
    /// - Parameter perAddress: how many of them one address may hold, however slow it is: the rest is for others.
    init(limit: Int, perAddress: Int) {
        self.limit = limit
        quota = AddressQuota(limit: perAddress)
    }

    /// Takes a slot.
    ///
    /// - Throws: `overloaded` at once when all are taken, `rate_limited` when the client has its share; whoever waits in
    ///   line here would only hold a connection.
    func take(for client: IPAddress) throws(APIError) -> Slot {
        guard quota.take(client) else { throw APIError.rateLimited("Too many transfers from this address", wait: .seconds(2)) }
        let isFree = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        guard isFree else {
            quota.release(client)
            throw APIError.overloaded("Too many transfers at the moment")
        }
        return Slot { [self] in
            taken.withLock { $0 -= 1 }
            quota.release(client)
        }
    }

    /// Runs the body in a slot; see ``take(for:)``.
    func withSlot<Result>(for client: IPAddress, _ body: () async throws -> Result) async throws -> Result {
        let slot = try take(for: client)
        defer { withExtendedLifetime(slot) {} }
        return try await body()
    }
}
