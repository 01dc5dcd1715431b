internal import NIOCore

/// Limits the number of concurrent transfers of pictures, and with it the memory and the disk space that they take.
final class UploadSlots: Sendable {
    /// The slot of one transfer; it is released with its last reference.
    final class Slot: Sendable {
        private let client: IPAddress
        private let transfer: CountedTransfer
        private let slots: UploadSlots

        fileprivate init(of client: IPAddress, _ transfer: CountedTransfer, in slots: UploadSlots) {
            (self.client, self.transfer, self.slots) = (client, transfer, slots)
        }

        deinit { slots.quota.end(transfer) }

        /// Works on a piece of the transfer in its turn; see ``UploadTurns/inTurn(of:byteCount:_:)``.
        func inTurn(byteCount: Int, _ body: () async throws -> Void) async throws {
            transfer.add(byteCount)
            try await slots.turns.inTurn(of: client, byteCount: byteCount, body)
        }
    }

    /// The size of a body without `Content-Length`: the most bytes that any upload may have.
    private static let unannouncedSize = UploadLimits().bodyBytes

    private let quota: TransferQuota
    private let turns = UploadTurns()

    /// Creates slots.
    ///
    /// - Parameters:
    ///   - limit: The number of slots.
    ///   - perSite: The most slots of one site; see also ``TransferQuota``.
    init(limit: Int, perSite: Int) {
        quota = TransferQuota(perSite: perSite, total: limit)
    }

    /// Takes a slot for the response to a request. If another client needs the slot, the connection is closed. The size of a response does
    /// not count: a client chooses the pace of a small one as well.
    ///
    /// - Throws: `overloaded` when all are taken, `rate_limited` when the client's site holds its share.
    func take(for context: APIRequestContext) throws(APIError) -> Slot {
        let channel = context.channel
        return try take(for: context.client, size: 0) { channel.close(promise: nil) }
    }

    /// Takes a slot.
    ///
    /// - Parameters: See ``TransferQuota/take(_:size:displace:)``.
    func take(for client: IPAddress, size: Int, displace: @escaping @Sendable () -> Void) throws(APIError) -> Slot {
        switch quota.take(client, size: size, displace: displace) {
        case .taken(let transfer): Slot(of: client, transfer, in: self)
        case .shareExhausted: throw APIError.rateLimited("Too many transfers from this address", wait: .seconds(2))
        case .exhausted: throw APIError.overloaded("Too many transfers at the moment")
        }
    }

    /// Runs the body in a slot, which reads the body of the request. If another client needs the slot before the body is complete, the
    /// request is refused with `overloaded`.
    ///
    /// - Throws: The errors of ``take(for:)`` and of `body`.
    func withSlot<Result>(for context: APIRequestContext, _ body: (Slot) async throws -> Result) async throws -> Result {
        let channel = context.channel
        let slot = try take(for: context.client, size: context.bodyLength ?? Self.unannouncedSize) {
            channel.triggerUserOutboundEvent(ClientEvent.bodyDisplaced, promise: nil)
        }
        defer { withExtendedLifetime(slot) {} }
        return try await body(slot)
    }
}
