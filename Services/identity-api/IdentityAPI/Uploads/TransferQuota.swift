internal import Synchronization

/// A transfer that holds a slot of a ``TransferQuota``, with the number of its bytes.
final class CountedTransfer: Sendable {
    /// The site of the client; see ``IPAddress/site``.
    let site: IPAddress
    fileprivate let number: UInt64
    fileprivate let displace: @Sendable () -> Void
    private let bytes = Atomic<Int>(0)

    fileprivate init(site: IPAddress, number: UInt64, displace: @escaping @Sendable () -> Void) {
        (self.site, self.number, self.displace) = (site, number, displace)
    }

    /// Counts bytes that were transferred.
    func add(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .relaxed) }

    /// The order in which the transfers of a site are displaced: the one with the fewest bytes first, and of equal ones the oldest.
    fileprivate var precedence: (Int, UInt64) { (bytes.load(ordering: .relaxed), number) }
}

/// Limits the number of concurrent transfers, and shares them between sites.
///
/// A transfer costs its client next to nothing: a head without a body holds a slot for the patience of the ``ConnectionGuard``. So the
/// transfer of a site with fewer slots displaces one of the site with the most when all are taken.
final class TransferQuota: Sendable {
    /// The result of an attempt to take a slot.
    enum Outcome {
        case taken(CountedTransfer)
        /// The site holds its share.
        case shareExhausted
        /// No slot is left, and no site holds more than one more than this one.
        case exhausted
    }

    private struct State {
        var bySite: [IPAddress: [UInt64: CountedTransfer]] = [:]
        /// Transfers that hold a slot, without those that were displaced.
        var count = 0
        /// Transfers that were displaced and have not ended.
        var leaving = 0
        var nextNumber: UInt64 = 0
    }

    private let perSite: Int
    private let total: Int
    private let state = Mutex(State())

    /// Creates a quota.
    ///
    /// - Parameters:
    ///   - perSite: The most slots of a site. It never holds more than half of the slots that other sites leave, and at least one.
    ///   - total: The number of slots. Displaced transfers may exceed it by an eighth until they have ended.
    init(perSite: Int, total: Int) {
        (self.perSite, self.total) = (perSite, total)
    }

    /// Takes a slot for a client, without waiting: a waiting client would hold a connection.
    ///
    /// - Parameter displace: Called when another transfer takes the slot; it must end this transfer soon. ``end(_:)`` is due all the same.
    func take(_ client: IPAddress, displace: @escaping @Sendable () -> Void) -> Outcome {
        let (outcome, displaced) = state.withLock { state -> (Outcome, CountedTransfer?) in
            let own = state.bySite[client.site]?.count ?? 0
            let left = total - (state.count - own)
            let displaced = state.count >= total ? displaceable(by: own, in: state) : nil
            if state.count >= total, displaced == nil { return (.exhausted, nil) }
            guard own < min(perSite, max(1, left / 2)) else { return (.shareExhausted, nil) }
            if let displaced, Self.remove(displaced, from: &state) { state.leaving += 1 }
            state.nextNumber += 1
            let transfer = CountedTransfer(site: client.site, number: state.nextNumber, displace: displace)
            state.bySite[client.site, default: [:]][transfer.number] = transfer
            state.count += 1
            return (.taken(transfer), displaced)
        }
        displaced?.displace()
        return outcome
    }

    /// The transfer that makes room for one of a site with `own` slots.
    private func displaceable(by own: Int, in state: State) -> CountedTransfer? {
        guard state.leaving < max(1, total / 8), let most = state.bySite.values.max(by: { $0.count < $1.count }), most.count > own + 1
        else { return nil }
        return most.values.min { $0.precedence < $1.precedence }
    }

    /// Returns the slot of a transfer that has ended.
    func end(_ transfer: CountedTransfer) {
        state.withLock { state in
            if !Self.remove(transfer, from: &state) { state.leaving -= 1 }
        }
    }

    @discardableResult
    private static func remove(_ transfer: CountedTransfer, from state: inout State) -> Bool {
        guard state.bySite[transfer.site]?.removeValue(forKey: transfer.number) != nil else { return false }
        if state.bySite[transfer.site]?.isEmpty == true { state.bySite[transfer.site] = nil }
        state.count -= 1
        return true
    }
}
