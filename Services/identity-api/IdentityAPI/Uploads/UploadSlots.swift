/// Limits the number of concurrent transfers of pictures, and with it the memory and the disk space that they take.
final class UploadSlots: Sendable {
    /// The slot of one transfer; it is released with its last reference.
    final class Slot: Sendable {
        private let client: IPAddress
        private let turns: UploadTurns
        private let release: @Sendable () -> Void

        fileprivate init(of client: IPAddress, turns: UploadTurns, release: @escaping @Sendable () -> Void) {
            (self.client, self.turns, self.release) = (client, turns, release)
        }

        deinit { release() }

        /// Works on a piece of the transfer in its turn; see ``UploadTurns/inTurn(of:byteCount:_:)``.
        func inTurn(byteCount: Int, _ body: () async throws -> Void) async throws {
            try await turns.inTurn(of: client, byteCount: byteCount, body)
        }
    }

    private let quota: AddressQuota
    private let turns = UploadTurns()

    /// Creates slots.
    ///
    /// - Parameters:
    ///   - limit: The number of slots.
    ///   - perAddress: The largest number that one address may hold; see also ``AddressQuota``.
    init(limit: Int, perAddress: Int) {
        quota = AddressQuota(perAddress: perAddress, total: limit)
    }

    /// Takes a slot.
    ///
    /// - Throws: `overloaded` when all are taken, `rate_limited` when the client holds its share. Both without waiting, because a waiting
    ///   client would hold a connection.
    func take(for client: IPAddress) throws(APIError) -> Slot {
        switch quota.take(client) {
        case .taken: Slot(of: client, turns: turns) { [quota] in quota.release(client) }
        case .shareExhausted: throw APIError.rateLimited("Too many transfers from this address", wait: .seconds(2))
        case .exhausted: throw APIError.overloaded("Too many transfers at the moment")
        }
    }

    /// Runs the body in a slot; see ``take(for:)``.
    func withSlot<Result>(for client: IPAddress, _ body: (Slot) async throws -> Result) async throws -> Result {
        let slot = try take(for: client)
        defer { withExtendedLifetime(slot) {} }
        return try await body(slot)
    }
}
